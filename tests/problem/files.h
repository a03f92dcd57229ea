// Small model files for tests, written from the formats' specifications and not by the code under
// test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "problem/problem.h"

namespace tare::problem {

// A folder of the test's own, gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tare-problem-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  std::filesystem::path path_;
};

// Changes one byte before `end` after the other by each of `masks`: reading must succeed or throw
// tare::Error.
inline void read_with_changed_bytes(const std::filesystem::path& file, std::size_t end,
                                    std::initializer_list<int> masks) {
  std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t at, char byte) {
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(byte).flush();
  };
  for (std::size_t at = 0; at < end; ++at) {
    bytes.seekg(static_cast<std::streamoff>(at));
    const char original = static_cast<char>(bytes.get());
    for (const int mask : masks) {
      put(at, static_cast<char>(original ^ mask));
      try {
        read_model(file);
      } catch (const Error&) {
      }
    }
    put(at, original);
  }
  ASSERT_TRUE(bytes.good());
}

// `action` throws tare::Error for the input, in one line that holds every one of `parts`.
inline void expect_error(const std::function<void()>& action,
                         const std::vector<std::string>& parts) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.blame(), Blame::kInput);
    const std::string sentence = error.what();
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    for (const std::string& part : parts) {
      EXPECT_NE(sentence.find(part), std::string::npos)
          << "'" << part << "' is not in: " << sentence;
    }
    return;
  }
  ADD_FAILURE() << "no error; wanted one with '" << (parts.empty() ? "" : parts.front()) << "'";
}

// Cuts the file at every byte, from its end on, and expects a sentence that names it each time. In
// place, as the changes above: where closing a truncated file waits for the disk, writing it anew
// each time takes a minute.
inline void expect_error_at_every_cut(const std::filesystem::path& file) {
  for (std::uintmax_t length = std::filesystem::file_size(file); length-- > 0;) {
    std::filesystem::resize_file(file, length);
    expect_error([&] { read_model(file); }, {file.filename().string() + "'"});
  }
}

// "q/o 1536x256 *4 BF16", for comparing at a glance.
inline std::vector<std::string> lines(const Model& model) {
  std::vector<std::string> all;
  for (const Projection& p : model.projections) {
    all.push_back(fmt::format("{} {}x{} *{}{}{}", p.name, p.k, p.n, p.count,
                              p.stored.empty() ? "" : " ", p.stored));
  }
  return all;
}

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  return out;
}

// A .safetensors file of this header and `data_bytes` zeros.
inline std::string safetensors(const std::string& header, std::size_t data_bytes) {
  return little_endian(header.size(), 8) + header + std::string(data_bytes, '\0');
}

// One entry of a header: `"name":{"dtype":...,"shape":[...],"data_offsets":[...]}`.
inline std::string entry(const std::string& name, const std::string& dtype,
                         const std::string& shape, std::uint64_t begin, std::uint64_t end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, dtype,
                     shape, begin, end);
}

struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> dimensions;  // innermost first, as in the file
  std::uint32_t type = 0;
  std::uint64_t bytes = 0;
};

// Builds a GGUF file piece by piece, so that a test can lie in any of them.
struct Gguf {
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;
  std::uint64_t extra_tensors = 0;  // claimed but absent
  std::uint64_t extra_entries = 0;
  std::vector<std::string> entries;
  std::vector<GgufTensor> tensors;

  static std::string string(std::string_view text) {
    return little_endian(text.size(), 8) + std::string(text);
  }
  static std::string entry(std::string_view key, std::uint32_t type, const std::string& value) {
    return string(key) + little_endian(type, 4) + value;
  }
  static std::string text_entry(std::string_view key, std::string_view value) {
    return entry(key, 8, string(value));
  }

  std::string bytes() const {
    std::string head = "GGUF" + little_endian(version, 4) +
                       little_endian(tensors.size() + extra_tensors, 8) +
                       little_endian(entries.size() + extra_entries, 8);
    for (const std::string& one : entries) head += one;
    std::uint64_t offset = 0;
    for (const GgufTensor& tensor : tensors) {
      head += string(tensor.name) + little_endian(tensor.dimensions.size(), 4);
      for (const std::uint64_t dimension : tensor.dimensions) head += little_endian(dimension, 8);
      head += little_endian(tensor.type, 4) + little_endian(offset, 8);
      offset += padded(tensor.bytes);
    }
    head.resize(padded(head.size()));
    return head + std::string(offset, '\0');
  }

 private:
  std::uint64_t padded(std::uint64_t size) const {
    return (size + alignment - 1) / alignment * alignment;
  }
};

}  // namespace tare::problem
