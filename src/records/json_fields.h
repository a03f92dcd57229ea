// Structs as JSON objects, by the fields that visit_fields (fields.h) names.
//
// A room derives its own visitor from each, which says with what it visits and which words its
// enumerations have, and adds an encoded() or decode() for what a file writes in a way of its own:
//
//   class Encoder : public records::FieldEncoder<Encoder> {
//    public:
//     using FieldEncoder::encoded;
//     static OrderedJson encoded(const Interval& interval);
//     template <typename T> void visit(const T& value) { visit_fields(*this, value); }
//     template <typename T> static const auto& words(T value) { return words_of(value); }
//   };
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "records/json_place.h"

namespace tare::records {

// A struct whose fields are visited.
template <typename T>
concept Fielded = std::is_class_v<T> && !std::is_same_v<T, std::string>;

template <typename Derived>
class FieldEncoder {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    object_[name] = Derived::encoded(value);
  }
  template <typename T>
  void later(const char* name, const T& value) {
    (*this)(name, value);
  }
  void element_type(const char* name, std::uint32_t type) {
    object_[name] = written_element_type(type);
  }
  void type_if_any(const char* name, std::uint32_t type) {
    if (type != 0) element_type(name, type);
  }

  template <typename T>
  static OrderedJson encoded(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return word_for(Derived::words(value), value);
    } else if constexpr (std::is_same_v<T, double>) {
      return written_number(value);
    } else if constexpr (Fielded<T>) {
      Derived encoder;
      encoder.visit(value);
      return std::move(encoder.object_);
    } else {
      return value;
    }
  }
  template <typename T>
  static OrderedJson encoded(const std::vector<T>& values) {
    OrderedJson list = OrderedJson::array();
    for (const T& value : values) list.push_back(Derived::encoded(value));
    return list;
  }
  template <typename T>
  static OrderedJson encoded(const std::optional<T>& value) {
    return value ? Derived::encoded(*value) : OrderedJson(nullptr);
  }

 private:
  OrderedJson object_ = OrderedJson::object();
};

// Throws tare::Error (kInput) as json_place.h does.
template <typename Derived>
class FieldDecoder {
 public:
  explicit FieldDecoder(const JsonPlace& parent) : parent_(parent) {}

  template <typename T>
  void operator()(const char* name, T& into) {
    Derived::decode(member(parent_, name), into);
  }
  template <typename T>
  void later(const char* name, T& into) {
    if (parent_.value.contains(name)) (*this)(name, into);
  }
  void element_type(const char* name, std::uint32_t& into) {
    read_element_type(member(parent_, name), into);
  }
  void type_if_any(const char* name, std::uint32_t& into) {
    into = 0;
    if (parent_.value.contains(name)) element_type(name, into);
  }

  template <typename T>
  static void decode(const JsonPlace& place, T& into) {
    if constexpr (std::is_enum_v<T>) {
      read_word(place, Derived::words(into), into);
    } else if constexpr (Fielded<T>) {
      Derived decoder(place);
      decoder.visit(into);
    } else {
      read(place, into);
    }
  }
  template <typename T>
  static void decode(const JsonPlace& place, std::vector<T>& into) {
    require_list(place);
    into.clear();
    into.reserve(place.value.size());
    for (std::size_t index = 0; index < place.value.size(); ++index)
      Derived::decode(element(place, index), into.emplace_back());
  }
  template <typename T>
  static void decode(const JsonPlace& place, std::optional<T>& into) {
    if (place.value.is_null())
      into.reset();
    else
      Derived::decode(place, into.emplace());
  }

 private:
  const JsonPlace& parent_;
};

}  // namespace tare::records
