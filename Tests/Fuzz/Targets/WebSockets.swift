@testable import SDLLink

extension FuzzTarget {
  /// WebSocket's frames, and the heads of its handshakes.
  static let webSockets = [
    FuzzTarget("websocket-frames", bytesPerInputByte: 16) { checkWebSocketFrames($0) },
    FuzzTarget("websocket-heads", bytesPerInputByte: 128, baseByteCount: 64 << 10) { checkWebSocketHeads($0) },
  ]

  /// Frames are the same wherever they are cut, up to a fault.
  private static func checkWebSocketFrames(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let kind = input.byte()
    let pieceSize = 1 + Int(input.byte())
    let stream = Array(input.rest)
    func decode(_ size: Int) -> (bytes: [UInt8], fault: WebSocketFault?, ping: [UInt8]?) {
      var decoder = WebSocketInput(peerIsClient: kind & 1 == 0)
      var result: [UInt8] = []
      for start in stride(from: 0, to: stream.count, by: size) {
        var piece = Array(stream[start..<min(start + size, stream.count)])
        let outcome = piece.withUnsafeMutableBytes { buffer -> Result<Int, WebSocketFault> in
          do throws(WebSocketFault) { return .success(try decoder.decode(buffer)) } catch { return .failure(error) }
        }
        switch outcome {
        case .success(let count):
          rule(count <= piece.count, "more bytes than were received")
          result += piece[..<count]
        case .failure(let fault): return (result, fault, nil)
        }
      }
      return (result, nil, decoder.takePing())
    }
    let (pieces, single) = (decode(pieceSize), decode(1))
    rule(pieces.fault == single.fault, "a fault that depends on the cut")
    rule(pieces.fault != nil || pieces.bytes == single.bytes, "bytes that depend on the cut")
    rule((pieces.ping?.count ?? 0) <= 125 && pieces.ping == single.ping, "a ping that depends on the cut")
  }

  private static let upgrade =
    "GET / HTTP/1.1\r\nHost: car\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"

  /// The answer to any request is one head, and a request that is accepted gets an answer that the client accepts.
  private static func checkWebSocketHeads(_ input: [UInt8]) {
    // The first run, which has no input, loads OpenSSL.
    let bytes = input.isEmpty ? Array(upgrade.utf8) : input
    guard let count = HTTPHead.byteCount(in: bytes, from: 0), let head = HTTPHead(bytes[..<count]) else { return }
    if let request = try? WebSocketRequest(host: "car", target: "/", nonce: Array(repeating: 0, count: 16)) {
      try? request.check(head)
    }
    switch try? WebSocketAnswer(to: head, origins: AllowedOrigins(named: []), at: nil) {
    case .accepted(let answer):
      rule(HTTPHead.byteCount(in: answer, from: 0) == answer.count, "an answer that is more than a head")
    case .refused(let answer, _): rule(HTTPHead.byteCount(in: answer, from: 0) != nil, "an answer without a head")
    case nil: break
    }
  }
}
