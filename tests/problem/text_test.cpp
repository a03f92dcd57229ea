#include "problem/text.h"

#include <gtest/gtest.h>

namespace tare::problem {
namespace {

TEST(Text, PrintableKeepsTextAndDisarmsTheRest) {
  EXPECT_EQ(printable("Gemma 3 270m"), "Gemma 3 270m");
  EXPECT_EQ(printable("\u6a21\u578b"), "\u6a21\u578b");
  EXPECT_EQ(printable("a\x1b[2Jb\n"), "a\\u001b[2Jb\\n");
  EXPECT_EQ(printable("\xff\xfe"), "\uFFFD\uFFFD");
  EXPECT_EQ(printable(std::string(100, 'a'), 4), "aaaa...");
}

TEST(Text, NameIsTheStemUnlessItSaysNothing) {
  EXPECT_EQ(name_from_path("models/gemma-3-270m-q4_k_m.gguf"), "gemma-3-270m-q4_k_m");
  EXPECT_EQ(name_from_path("models/Qwen2.5-1.5B.json"), "Qwen2.5-1.5B");
  EXPECT_EQ(name_from_path("models/all-MiniLM-L6-v2/model.safetensors"), "all-MiniLM-L6-v2");
  EXPECT_EQ(name_from_path("m/Qwen3-8B/model.safetensors.index.json"), "Qwen3-8B");
  EXPECT_EQ(name_from_path("m/Qwen3-8B/model-00001-of-00005.safetensors"), "Qwen3-8B");
  EXPECT_EQ(name_from_path("m/./Qwen3-8B/../Qwen3-4B/config.json"), "Qwen3-4B");
}

TEST(Text, NameOfAHuggingFaceCacheIsTheModels) {
  EXPECT_EQ(name_from_path("hub/models--Qwen--Qwen3-8B/snapshots/"
                           "9c925d64d72725edaf899c6cb9c377fd0709d9c5/config.json"),
            "Qwen3-8B");
}

}  // namespace
}  // namespace tare::problem
