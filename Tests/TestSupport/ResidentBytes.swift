import Foundation

/// Memory that this process has in use now, in whole pages, for tests that nothing else runs beside.
public func residentBytes() throws -> Int {
  struct Unreadable: Error {}
  let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  guard fields.count > 1, let pages = Int(fields[1]) else { throw Unreadable() }
  return pages * Int(getpagesize())
}
