import CLinux
import Glibc

/// The program that guards others (`process_guard.h`): it ends them when this process is gone. A program of its own, so
/// that nothing of this process's memory, such as a private key, is in a second one.
public struct ProcessGuard: Sendable {
  /// Its name in the folder of the plugin.
  public static let name = "sdl-process-guard"
  private static let argument = "--process-guard"

  /// How it is started.
  let command: [String]

  /// This program, which calls ``run(_:)`` before anything else.
  public static let thisProgram = ProcessGuard(command: ["/proc/self/exe", argument])

  /// The one in the folder of the plugin, or of whatever program has this code inside; otherwise the one in PATH.
  static func installed() throws(CarWindowError) -> ProcessGuard {
    let file = guard_own_file().map { String(cString: $0) } ?? ""
    let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let beside = "\(folder.isEmpty ? "." : folder)/\(name)"
    if access(beside, X_OK) == 0 { return ProcessGuard(command: [beside]) }
    if let path = CarWindow.path(of: name) { return ProcessGuard(command: [path]) }
    throw CarWindowError(
      .missing, "\(beside) is missing, which ends programs together with this one: install it beside the plugin")
  }

  /// Does a guard's work, if the arguments ask for it.
  /// - Returns: the status to exit with; nil if they do not.
  public static func run(_ arguments: [String]) -> Int32? {
    guard arguments.dropFirst().first == argument else { return nil }
    let rest = CStrings(Array(arguments.dropFirst(2)))
    return withExtendedLifetime(rest) { guard_main(Int32(clamping: rest.count), rest.pointer) }
  }
}

/// Strings as a C array that ends with NULL.
final class CStrings {
  let pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  let count: Int

  init(_ texts: [String]) {
    count = texts.count
    pointer = .allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() { (pointer + index).initialize(to: strdup(text)) }
    (pointer + count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { free(pointer[index]) }
    pointer.deallocate()
  }
}
