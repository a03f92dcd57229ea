#include "device/processor_name.h"

#include <gtest/gtest.h>

namespace tare::device {
namespace {

// Recorded /proc/cpuinfo of several machines, cut to the fields that count.
constexpr const char* kZen4 =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
    "model name\t: AMD EPYC 9R14\nstepping\t: 1\nmicrocode\t: 0xa101148\ncache size\t: 1024 KB\n"
    "flags\t\t: fpu vme avx512f avx512_bf16\n\nprocessor\t: 1\nvendor_id\t: AuthenticAMD\n";
constexpr const char* kGenoa =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
    "model name\t: AMD EPYC 9654 96-Core Processor\nstepping\t: 1\n";
constexpr const char* kSapphireRapids =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
    "model name\t: Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz\nstepping\t: 8\n";
constexpr const char* kEmeraldRapids =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n"
    "model name\t: Intel(R) Xeon(R) Processor\nstepping\t: 2\ncpu MHz\t\t: 2300.000\n";
constexpr const char* kUnderAHypervisor =  // that gives it a model number of its own
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 167\n"
    "model name\t: Intel(R) Xeon(R) Processor\nstepping\t: 1\ncache size\t: 491520 KB\n"
    "flags\t\t: fpu vme avx512f serialize tsxldtrk amx_bf16 avx512_fp16 amx_tile amx_int8\n";
constexpr const char* kHaswell =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\n"
    "model name\t: Intel(R) Xeon(R) CPU E5-2673 v3 @ 2.40GHz\nstepping\t: 2\n";
constexpr const char* kGraviton3 =
    "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd sve bf16\nCPU implementer\t: 0x41\n"
    "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n\nprocessor\t: "
    "1\n";

std::string name_of(const char* cpuinfo) {
  return processor_name(parse_cpuinfo(cpuinfo));
}

TEST(ProcessorName, SaysMicroarchitectureAndLeavesFillersOut) {
  EXPECT_EQ(name_of(kZen4), "AMD EPYC 9R14 (Zen 4)");
  EXPECT_EQ(name_of(kGenoa), "AMD EPYC 9654 (Zen 4)");
  EXPECT_EQ(name_of(kSapphireRapids), "Intel Xeon Platinum 8481C (Sapphire Rapids)");
  EXPECT_EQ(name_of(kEmeraldRapids), "Intel Xeon (Emerald Rapids)");
  EXPECT_EQ(name_of(kHaswell), "Intel Xeon E5-2673 v3 (Haswell)");
  EXPECT_EQ(name_of(kGraviton3), "Arm (Neoverse V1)");
}

TEST(ProcessorName, AModelThatHasNoAmxIsNotNamedWhereAmxIs) {
  EXPECT_EQ(name_of(kUnderAHypervisor), "Intel Xeon");
}

TEST(ProcessorName, AnUnknownModelKeepsItsName) {
  EXPECT_EQ(name_of("processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 250\nmodel "
                    "name : Fancy(TM) 9\n"),
            "Fancy 9");
}

TEST(ProcessorName, NothingReadableIsStillAName) {
  EXPECT_EQ(name_of(""), "unknown processor");
  EXPECT_EQ(name_of("no colons here\n::::\nmodel name\t:   \n"), "unknown processor");
  EXPECT_EQ(name_of("vendor_id : AuthenticAMD\n"), "AMD");
}

TEST(ProcessorName, OnlyTheFirstProcessorCounts) {
  const CpuInfo info = parse_cpuinfo("processor: 0\nmodel: 17\n\nprocessor: 1\nmodel: 99\n");
  EXPECT_EQ(info.model, 17u);
}

TEST(ProcessorName, SteppingTellsServersOfModel55Apart) {
  CpuInfo info{
      .vendor = "GenuineIntel", .model_name = "", .family = 6, .model = 0x55, .stepping = 4};
  EXPECT_EQ(microarchitecture(info), "Skylake");
  info.stepping = 7;
  EXPECT_EQ(microarchitecture(info), "Cascade Lake");
  info.stepping = 11;
  EXPECT_EQ(microarchitecture(info), "Cooper Lake");
}

TEST(ProcessorName, ZenGenerations) {
  CpuInfo info{.vendor = "AuthenticAMD", .model_name = "", .family = 0x17, .model = 0x31};
  EXPECT_EQ(microarchitecture(info), "Zen 2");  // Rome
  info = {.vendor = "AuthenticAMD", .model_name = "", .family = 0x19, .model = 0x01};
  EXPECT_EQ(microarchitecture(info), "Zen 3");  // Milan
  info.model = 0xa0;
  EXPECT_EQ(microarchitecture(info), "Zen 4");  // Bergamo
  info = {.vendor = "AuthenticAMD", .model_name = "", .family = 0x1a, .model = 0x02};
  EXPECT_EQ(microarchitecture(info), "Zen 5");  // Turin
}

}  // namespace
}  // namespace tare::device
