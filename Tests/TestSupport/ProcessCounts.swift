import Foundation

/// What Linux lists of this process, for suites that have a process to themselves.
public enum ProcessCounts {
  public static var threads: Int { entries("/proc/self/task") }

  /// Open descriptors, with the one that reads the list.
  public static var descriptors: Int { entries("/proc/self/fd") }

  /// What they are of.
  public static var descriptorTargets: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.sorted().map { name in
      "\(name) \((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) ?? "closed")"
    } ?? []
  }

  private static func entries(_ folder: String) -> Int {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      preconditionFailure("\(folder) can't be read")
    }
    return names.count
  }
}
