// How the weights of a real model are distributed: magnitudes over their root mean square. Made by
// scripts/weight-quantiles from the projections of Gemma 3 270M (Q4_K, Q5_0, Q6_K and Q8_0, each
// tensor by its own root mean square); normal weights would have a kurtosis of 3.
#pragma once

namespace tare::prove {

inline constexpr int kMagnitudeSteps = 8;  // in an octave
inline constexpr int kMagnitudeOctaves = 20;

// Entry 8 o + m: the magnitude that a share of 2^-o (1 - m / 16) of the weights exceeds.
inline constexpr float kMagnitudes[kMagnitudeOctaves * kMagnitudeSteps + 1] = {
    0.0F,     0.050868F, 0.12736F, 0.18445F, 0.2531F,  0.32258F, 0.39676F, 0.47553F, 0.5618F,
    0.60776F, 0.65625F,  0.70712F, 0.76156F, 0.81957F, 0.8822F,  0.95054F, 1.0249F,  1.0649F,
    1.1078F,  1.1541F,   1.2037F,  1.2559F,  1.3127F,  1.3752F,  1.4447F,  1.4822F,  1.5239F,
    1.5666F,  1.6129F,   1.6653F,  1.7192F,  1.7815F,  1.8505F,  1.8877F,  1.9262F,  1.97F,
    2.0168F,  2.0681F,   2.1238F,  2.1861F,  2.2582F,  2.2967F,  2.339F,   2.3841F,  2.4326F,
    2.4889F,  2.5497F,   2.6178F,  2.6987F,  2.7412F,  2.7898F,  2.8397F,  2.8964F,  2.9625F,
    3.03F,    3.1112F,   3.2089F,  3.2593F,  3.3096F,  3.3799F,  3.4464F,  3.524F,   3.608F,
    3.7055F,  3.8278F,   3.9012F,  3.9751F,  4.0502F,  4.1449F,  4.2419F,  4.3477F,  4.4735F,
    4.6178F,  4.698F,    4.7901F,  4.8876F,  4.9877F,  5.0968F,  5.2308F,  5.3769F,  5.5361F,
    5.6295F,  5.7286F,   5.8332F,  5.9556F,  6.0842F,  6.2224F,  6.3729F,  6.5553F,  6.6616F,
    6.7656F,  6.8793F,   7.0131F,  7.1608F,  7.3228F,  7.5006F,  7.6685F,  7.7808F,  7.9017F,
    8.0231F,  8.167F,    8.3364F,  8.4919F,  8.6462F,  8.882F,   8.9856F,  9.0995F,  9.2317F,
    9.3755F,  9.5315F,   9.6849F,  9.8787F,  10.095F,  10.224F,  10.336F,  10.51F,   10.647F,
    10.806F,  10.965F,   11.206F,  11.486F,  11.616F,  11.755F,  11.952F,  12.101F,  12.237F,
    12.395F,  12.594F,   12.849F,  12.99F,   13.137F,  13.239F,  13.43F,   13.657F,  13.865F,
    14.174F,  14.443F,   14.606F,  14.772F,  15.013F,  15.409F,  15.604F,  16.007F,  16.203F,
    16.693F,  16.844F,   17.16F,   17.254F,  17.65F,   17.978F,  18.662F,  19.049F,  19.759F,
    20.232F,  20.507F,   20.61F,   21.391F,  22.019F,  22.445F,  22.916F,  23.749F,
};

}  // namespace tare::prove
