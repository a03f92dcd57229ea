#include "problem/byte_reader.h"

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

TEST(ByteReader, ReadsLittleEndianAndCounts) {
  const Folder folder;
  ByteReader file(folder.write("f", "\x01\x02\x03\x04\x05\x06\x07\x08tail and more"));
  EXPECT_EQ(file.peek(2), "\x01\x02");
  EXPECT_EQ(file.read<std::uint16_t>("a"), 0x0201u);
  file.skip(1, "b");
  EXPECT_EQ(file.read<std::uint32_t>("c"), 0x07060504u);
  file.skip(1, "d");
  EXPECT_EQ(file.read_bytes(4, "e"), "tail");
  EXPECT_EQ(file.position(), 12u);
  EXPECT_EQ(file.remaining(), 9u);
}

TEST(ByteReader, SkipsFarAsWellAsNear) {
  const Folder folder;
  std::string bytes(10'000, 'a');
  bytes += "end";
  ByteReader file(folder.write("f", bytes));
  file.skip(100, "near");
  file.skip(9'900, "far");
  EXPECT_EQ(file.read_bytes(3, "end"), "end");
}

TEST(ByteReader, NeverPastTheEnd) {
  const Folder folder;
  ByteReader file(folder.write("f", "12345"));
  file.skip(2, "x");
  const std::vector<std::string> parts = {"/f'", "cut short", "the thing at byte 2 needs",
                                          "and 3 are left"};
  expect_error([&] { file.read<std::uint32_t>("the thing"); }, parts);
  expect_error([&] { file.read_bytes(~std::uint64_t{0}, "the thing"); }, parts);
  expect_error([&] { file.skip(~std::uint64_t{0}, "the thing"); }, parts);
  EXPECT_EQ(file.read_bytes(3, "rest"), "345");
  EXPECT_EQ(file.peek(100), "12345");
}

TEST(ByteReader, WhatIsNoFileIsNamed) {
  const Folder folder;
  expect_error([&] { ByteReader(folder.path() / "absent"); }, {"absent'", "no such file"});
  expect_error([&] { ByteReader reader(folder.path()); }, {"not a regular file"});
  expect_error([&] { ByteReader("/dev/zero"); }, {"'/dev/zero'", "not a regular file"});
}

}  // namespace
}  // namespace tare::problem
