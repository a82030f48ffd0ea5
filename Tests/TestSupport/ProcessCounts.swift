import Foundation

/// What Linux lists of this process, for suites that have a process to themselves.
package enum ProcessCounts {
  package static var threads: Int { entries("/proc/self/task") }

  /// Open descriptors, with the one that reads the list.
  package static var descriptors: Int { entries("/proc/self/fd") }

  /// What they are of. Those for events have numbers that grow in the order in which they were made.
  package static var descriptorTargets: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.sorted().map { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      let event = (try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8))?
        .split(separator: "\n").last { $0.hasPrefix("eventfd-id") }
      return ([name, target ?? "closed"] + (event.map { [String($0)] } ?? [])).joined(separator: " ")
    } ?? []
  }

  private static func entries(_ folder: String) -> Int {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      preconditionFailure("\(folder) can't be read")
    }
    return names.count
  }
}
