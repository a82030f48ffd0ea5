import CXCB

/// XCB, loaded on first use.
enum XCB {
  private nonisolated(unsafe) static let loaded: (table: UnsafePointer<CXCBFunctions>?, missing: String) = {
    var missing: UnsafePointer<CChar>?
    let table = cxcb_load(&missing)
    return (table, missing.map { String(cString: $0) } ?? "")
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
