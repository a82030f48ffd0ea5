import CGIO

/// GIO, loaded on first use.
package enum GIO {
  /// Nil when it is not installed.
  ///
  /// Allocated once for the life of the process, because a structure whose members are not nullable can't be made
  /// empty; never changed after that.
  package nonisolated(unsafe) static let functions: UnsafePointer<CGIOFunctions>? = {
    let table = UnsafeMutablePointer<CGIOFunctions>.allocate(capacity: 1)
    guard cgio_load(table) else {
      table.deallocate()
      return nil
    }
    return UnsafePointer(table)
  }()

  package static var library: String { String(cString: cgio_library()) }
}

extension String {
  /// Empty for NULL.
  package init(gio text: UnsafePointer<CChar>?) {
    self = text.map { String(cString: $0) } ?? ""
  }
}
