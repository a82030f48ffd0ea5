import Glibc

/// Folders that only this user can read.
enum PrivateFolder {
  /// Makes one with a unique name, in the session's run-time folder.
  static func make() throws(CarWindowError) -> String {
    let parent = CarWindow.environment["XDG_RUNTIME_DIR"].flatMap { access($0, W_OK) == 0 ? $0 : nil } ?? "/tmp"
    var template = Array("\(parent)/sdl-car-window-\(getpid())-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CarWindowError(.failed, "Can't create a folder in \(parent): \(String(cString: strerror(errno)))")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
