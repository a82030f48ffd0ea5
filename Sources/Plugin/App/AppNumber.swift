import Glibc

/// A number that distinguishes apps with the default `app-id` and `app-name`, because a head unit registers each id and
/// name once: the first one of this machine on a head unit has none, the second is number 2, and so on.
///
/// A number is the name of a socket in Linux's abstract namespace, which is shared by all processes and ends with its
/// owner, also if that crashes. So a restarted program has the same number, and finds the files that the head unit
/// keeps for it.
struct AppNumber: ~Copyable {
  /// More apps than head units accept. Beyond that the head unit refuses them.
  private static let numbers = 1...32

  /// From 1.
  let value: Int
  private let descriptor: Int32

  /// The lowest number that no other app of this machine has on the head unit.
  ///
  /// - Parameter headUnit: as the property `uri` names it; one with two names counts as two.
  init(on headUnit: String) {
    for number in Self.numbers {
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      if descriptor >= 0, Self.bind(descriptor, to: "gst-smartdevicelink-app-\(number) \(headUnit)") {
        value = number
        self.descriptor = descriptor
        return
      }
      let isTaken = descriptor >= 0 && errno == EADDRINUSE
      if descriptor >= 0 { close(descriptor) }
      guard isTaken else { break }
    }
    value = 1
    descriptor = -1
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Binds to a name in the abstract namespace (unix(7)), which begins with a zero byte. Long names are cut.
  private static func bind(_ descriptor: Int32, to name: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let count = withUnsafeMutableBytes(of: &address.sun_path) { path in
      let bytes = name.utf8.prefix(path.count - 1)
      path[1...].copyBytes(from: bytes)
      return bytes.count + 1
    }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + count)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, length) == 0 }
    }
  }
}
