#include "report/encode.h"
#include "report/results.h"

namespace tare::report {

ResultsWriter::ResultsWriter(const std::filesystem::path& path, const Header& header)
    : file_(path) {
  SealedLine line = header_line(header);
  file_.write(std::move(line.text));
  digests_.push_back(std::move(line.digest));
}

void ResultsWriter::write(const Row& row) {
  SealedLine line = row_line(row);
  file_.write(std::move(line.text));
  digests_.push_back(std::move(line.digest));
}

void ResultsWriter::finish(const Footer& footer) {
  file_.write(footer_line(footer, digests_));
}

}  // namespace tare::report
