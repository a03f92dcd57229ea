#include "report/encode.h"
#include "report/results.h"

namespace tare::report {

ResultsWriter::ResultsWriter(const std::filesystem::path& path, const Header& header)
    : file_(path) {
  file_.write(header_line(header));
}

void ResultsWriter::write(const Row& row) {
  file_.write(row_line(row));
  ++rows_;
}

void ResultsWriter::finish(const Footer& footer) {
  file_.write(footer_line(footer, rows_));
}

}  // namespace tare::report
