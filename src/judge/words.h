// Numbers as a person reads them, for the sentences of gates.
#pragma once

#include <string>

namespace tare::judge {

std::string duration(double seconds);  // "198 µs", "25.1 ms"; three digits at most
std::string percent(double share);     // 0.31 -> "31 %", 0.0042 -> "0.42 %"
std::string bytes(double count);       // "512 MB", decimal units

}  // namespace tare::judge
