import SDLAppLink

/// The bytes of an app over all its connections, as the network has counted them.
struct LinkTraffic {
  private var sent: UInt64 = 0
  private var received: UInt64 = 0
  /// Each may hold a byte back that counts as written.
  var webSocketCount: UInt64 = 0

  mutating func count(_ byteCount: Int, isSent: Bool) {
    if isSent { sent += UInt64(byteCount) } else { received += UInt64(byteCount) }
  }

  /// What is wrong with the app's own counters.
  func fault(_ statistics: LinkStatistics) -> String? {
    guard sent...(sent + webSocketCount) ~= statistics.sentByteCount, statistics.receivedByteCount == received else {
      return "\(statistics.sentByteCount) bytes sent, \(statistics.receivedByteCount) received; on the network \(sent) "
        + "and \(received)"
    }
    return nil
  }
}
