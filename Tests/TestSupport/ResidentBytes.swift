import Foundation

/// The memory that this process uses now, in whole pages, for tests that run alone.
package func residentBytes() throws -> Int {
  struct Unreadable: Error {}
  let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  guard fields.count > 1, let pages = Int(fields[1]) else { throw Unreadable() }
  return pages * Int(getpagesize())
}
