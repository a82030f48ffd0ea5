import SDLApp
import SDLHeadUnit

extension FuzzTarget {
  /// Whole sessions of both sides.
  static let sessions = [
    // From raw bytes, once they are streaming.
    bytes("head-unit-bytes", from: .app), bytes("app-bytes", from: .headUnit),
    // From structured steps.
    FuzzTarget("sessions", bytesPerInputByte: 1024, baseByteCount: 512 << 10) { bytes in
      var input = FuzzInput(bytes)
      var sessions = FuzzedSessions(&input, isEncrypted: false)
      while !input.isEmpty { sessions.step(&input) }
    },
    FuzzTarget("encrypted-sessions", bytesPerInputByte: 1024, baseByteCount: 1024 << 10) { bytes in
      var input = FuzzInput(bytes)
      var sessions = FuzzedSessions(&input, isEncrypted: true)
      while !input.isEmpty { sessions.step(&input) }
    },
  ]

  private static func bytes(_ name: String, from side: FuzzedSessions.Side) -> FuzzTarget {
    FuzzTarget(name, bytesPerInputByte: 96, baseByteCount: 256 << 10) { bytes in
      var input = FuzzInput(bytes)
      var sessions = FuzzedSessions(&input, isEncrypted: false)
      sessions.begin(&input)
      let pieceSize = 1 + 16 * Int(input.byte())
      while !input.isEmpty { sessions.receive(input.piece(limit: pieceSize + 1), from: side) }
    }
  }
}
