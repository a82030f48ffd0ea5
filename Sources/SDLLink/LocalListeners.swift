import Glibc

/// Which TCP ports of this machine a program listens on, by the kernel's tables, without connecting.
package enum LocalListeners {
  /// Whether 127.0.0.1 leads to a program on this port. False where the tables can't be read.
  package static func listens(on port: UInt16) -> Bool {
    ["/proc/self/net/tcp", "/proc/self/net/tcp6"].contains { path in
      listens(on: port, in: contents(of: path))
    }
  }

  /// The same, in a table as the kernel writes it (proc(5)): `sl local_address rem_address st …`.
  static func listens(on port: UInt16, in table: String) -> Bool {
    // 127.0.0.1, any address of IPv4, any of IPv6, and 127.0.0.1 mapped to IPv6; each word in the machine's byte order.
    let addresses = [
      "0100007F", "00000000", "00000000000000000000000000000000", "0000000000000000FFFF00000100007F",
    ]
    return table.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ", omittingEmptySubsequences: true)
      guard fields.count > 3, fields[3] == "0A" else { return false }
      let local = fields[1].split(separator: ":")
      return local.count == 2 && addresses.contains(String(local[0])) && UInt16(local[1], radix: 16) == port
    }
  }

  /// Empty if it can't be read; at most a megabyte of it.
  private static func contents(of path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 16384)
    while text.count < 1 << 20 {
      let count = fread(&part, 1, part.count, file)
      guard count > 0 else { break }
      text += part[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }
}
