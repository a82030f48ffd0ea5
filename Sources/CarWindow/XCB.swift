import CXCB

/// XCB, loaded on first use.
enum XCB {
  /// Allocated once for the life of the process, because a structure whose members are not nullable can't be made
  /// empty; never changed after that.
  private nonisolated(unsafe) static let loaded: (table: UnsafePointer<CXCBFunctions>?, missing: String) = {
    let table = UnsafeMutablePointer<CXCBFunctions>.allocate(capacity: 1)
    guard let missing = cxcb_load(table) else { return (UnsafePointer(table), "") }
    table.deallocate()
    return (nil, String(cString: missing))
  }()

  static func functions() throws(CarWindowError) -> UnsafePointer<CXCBFunctions> {
    guard let table = loaded.table else {
      throw CarWindowError(
        .missing,
        "XCB is incomplete, it lacks \(loaded.missing): install libxcb1, libxcb-damage0, libxcb-randr0, libxcb-shm0, "
          + "libxcb-xfixes0 and libxcb-xtest0")
    }
    return table
  }
}
