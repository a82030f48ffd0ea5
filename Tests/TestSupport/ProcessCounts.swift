import Foundation

/// What Linux lists of this process, for suites that have a process to themselves.
public enum ProcessCounts {
  public static var threads: Int { entries("/proc/self/task") }

  /// Open descriptors, with the one that reads the list.
  public static var descriptors: Int { entries("/proc/self/fd") }

  private static func entries(_ folder: String) -> Int {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      preconditionFailure("\(folder) can't be read")
    }
    return names.count
  }
}
