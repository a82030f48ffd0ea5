import Glibc
import SDLWire
import TLSEngine

/// A WebSocket connection that reads and writes like the TCP connection that it is made of: a byte stream of SDL
/// frames, with the kernel's own numbers of waiting bytes. The opening handshake, and that of TLS (wss), come first.
///
/// Its memory is bounded whatever the peer does: payloads are not kept, only the last ping is answered, and nothing is
/// taken from the writer while earlier bytes wait.
///
/// `@unchecked Sendable`: `state` and `memory` are only touched with the lock held.
package final class WebSocket: Socket, @unchecked Sendable {
  /// What a step of the handshakes has come to.
  package enum Progress {
    /// They go on when poll(2) reports these events.
    case waiting(Int16)
    case open
    case failed(TransportFailure)
  }

  private enum Phase {
    /// The beginning of the peer's request or answer.
    case handshake([UInt8])
    case open
    case failed(TransportFailure)
    /// The peer has closed it, or broken a rule.
    case over
  }

  private struct State {
    var phase = Phase.handshake([])
    var input: WebSocketInput
    var output: WebSocketOutput
    /// Bytes behind a handshake or out of a TLS record, not decoded yet.
    var early: [UInt8] = []
    /// Handshakes, control frames and TLS records that the kernel has not taken.
    var unwritten = ByteQueue()
    /// Bytes at the front of the writer's next ones that are among ``unwritten`` or written already.
    var heldBackCount = 0
    var isRequestSent = false
    /// Since the last byte of a binary message.
    var idleByteCount = 0
    var complaints = Complaints()
  }

  private struct Complaints {
    /// Of the first text message only, so that a peer can't cause any number.
    var isTextReported = false
    var waiting: String?
  }

  /// What is written at once; the kernel holds 32 KiB unsent.
  private static let writeSize = 64 << 10
  /// What is read of TLS at once. Decrypted, it fits into the rest of the reader's memory.
  private static let recordReadSize = 16 << 10
  /// Reads in a row that bring no data, as of a peer that only pings.
  private static let maximumIdleReads = 4
  /// Text messages, pings and empty frames in a row: hours of pings, or a peer that sends nothing else.
  private static let maximumIdleByteCount = 8 << 20

  private let carrier: Socket
  private let tls: TLSSession?
  /// Nil for the server.
  private let request: WebSocketRequest?
  private let origins: AllowedOrigins
  private let obstacle: @Sendable () -> String?
  private let lock = Monitor(())
  private var state: State
  private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: writeSize, alignment: 16)

  /// The client's end of `carrier`.
  /// - Parameter closed: is called when it goes away.
  package convenience init(
    _ carrier: Socket, request: WebSocketRequest, tls: TLSSession?, closed: @escaping @Sendable () -> Void = {}
  ) {
    self.init(carrier, request: request, origins: .none, obstacle: { nil }, tls: tls, closed: closed)
  }

  /// The server's end.
  /// - Parameters:
  ///   - obstacle: why the client can't be accepted when its request has come; nil if it can.
  ///   - closed: is called when it goes away.
  package convenience init(
    accepting carrier: Socket, origins: AllowedOrigins, obstacle: @escaping @Sendable () -> String? = { nil },
    tls: TLSSession?, closed: @escaping @Sendable () -> Void = {}
  ) {
    self.init(carrier, request: nil, origins: origins, obstacle: obstacle, tls: tls, closed: closed)
  }

  private init(
    _ carrier: Socket, request: WebSocketRequest?, origins: AllowedOrigins, obstacle: @escaping @Sendable () -> String?,
    tls: TLSSession?, closed: @escaping @Sendable () -> Void
  ) {
    self.carrier = carrier
    self.request = request
    self.origins = origins
    self.obstacle = obstacle
    self.tls = tls
    let isClient = request != nil
    state = State(input: WebSocketInput(peerIsClient: !isClient), output: WebSocketOutput(isClient: isClient))
    super.init(adopting: carrier.descriptor) { _ in
      withExtendedLifetime(carrier) {}
      closed()
    }
  }

  deinit {
    // The last chance to say so. Whoever does not read is not waited for.
    lock.withLock { _ in sayEnd(code: 1000) }
    memory.deallocate()
  }

  /// Whether this end is the server, as web apps and phones see it.
  package var isServer: Bool { request == nil }

  // MARK: As a socket

  package override var isClosedByPeer: Bool { carrier.isClosedByPeer }
  package override var ownAddress: SocketAddress? { carrier.ownAddress }
  package override var peerAddress: SocketAddress? { carrier.peerAddress }
  package override var unacknowledgedByteCount: UInt64? { carrier.unacknowledgedByteCount }
  package override var unsentByteCount: UInt64? { carrier.unsentByteCount }
  package override var roundTrip: (smoothed: Duration, minimum: Duration)? { carrier.roundTrip }

  /// Whether bytes can be received that poll(2) does not see.
  package override var holdsInput: Bool { lock.withLock { _ in !state.early.isEmpty } }

  package override func takeComplaint() -> String? {
    lock.withLock { _ in
      if state.input.textMessageCount > 0, !state.complaints.isTextReported {
        state.complaints.isTextReported = true
        return "text message over WebSocket, which is dropped: SmartDeviceLink has binary ones only"
      }
      return state.complaints.waiting.take()
    }
  }

  package override func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    lock.withLock { _ in receiveLocked(into: buffer) }
  }

  package override func send(_ bytes: UnsafeRawBufferPointer) -> Transfer { lock.withLock { _ in sendLocked([bytes]) } }

  package override func send(_ vectors: UnsafeMutableBufferPointer<iovec>) -> Transfer {
    lock.withLock { _ in
      sendLocked(vectors.map { UnsafeRawBufferPointer(start: $0.iov_base, count: $0.iov_len) })
    }
  }

  // MARK: Handshakes

  /// Continues the handshakes, without waiting.
  package func advance() -> Progress { lock.withLock { _ in advanceLocked() } }

  private func advanceLocked() -> Progress {
    if !state.isRequestSent {
      state.isRequestSent = true
      if let tls, request != nil { state.unwritten.append(tls.begin().output) }
      if tls == nil { sendRequest() }
    }
    for _ in 0..<64 {
      if let failure = flush() { return fail(.brokenOff, "its connection broke off: \(text(failure))") }
      switch state.phase {
      case .open: return .open
      case .failed(let failure): return .failed(failure)
      case .over: return fail(.brokenOff, "it closed the connection")
      case .handshake: break
      }
      let transfer = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
        let transfer = carrier.receive(into: buffer)
        if case .bytes(let count) = transfer { takeHandshake(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        return transfer
      }
      switch transfer {
      case .bytes: continue
      case .wouldBlock: return waiting
      case .endOfStream:
        return fail(
          .brokenOff, "it closed the connection instead of opening a WebSocket",
          advice: TransportFailure.adviceWithoutWebSocket(isSecure: tls != nil))

      case .failed(let code): return fail(.brokenOff, "its connection broke off: \(text(code))")
      }
    }
    return waiting
  }

  private var waiting: Progress { .waiting(Int16(state.unwritten.isEmpty ? POLLIN : POLLIN | POLLOUT)) }

  private func sendRequest() {
    if let request { enqueue(request.bytes) }
  }

  private func takeHandshake(_ bytes: UnsafeRawBufferPointer) {
    guard case .handshake(var head) = state.phase else { return }
    let start = head.count
    if let tls {
      let wasEstablished = tls.isEstablished
      if let error = takeOutput(of: tls.receive(bytes, into: &head)) {
        _ = flush()
        return _ = fail(error)
      }
      if !wasEstablished, tls.isEstablished { sendRequest() }
    } else {
      head += bytes
    }
    state.phase = .handshake(head)
    if let first = head.first, first != UInt8(ascii: request == nil ? "G" : "H") { return refuseBytes(first) }
    guard let count = HTTPHead.byteCount(in: head, from: start) else {
      if head.count > HTTPHead.maximumByteCount {
        state.complaints.waiting = "no WebSocket: a request of more than \(HTTPHead.maximumByteCount) bytes"
        _ = fail(.unreachable, "it sends an HTTP head of more than \(HTTPHead.maximumByteCount) bytes")
      }
      return
    }
    guard let parsed = HTTPHead(head[..<count]) else {
      state.complaints.waiting = "no WebSocket: a request whose fields are not those of HTTP"
      return state.phase = .failed(.notHTTP)
    }
    do throws(TransportFailure) {
      if let request { try request.check(parsed) } else { try answer(parsed) }
    } catch {
      return state.phase = .failed(error)
    }
    if case .handshake = state.phase {
      state.phase = .open
      state.early = Array(head[count...])
    }
  }

  private func answer(_ head: HTTPHead) throws(TransportFailure) {
    switch try WebSocketAnswer(to: head, origins: origins, at: ownAddress, obstacle: obstacle()) {
    case .accepted(let bytes): enqueue(bytes)
    case .refused(let bytes, let reason):
      enqueue(bytes)
      state.complaints.waiting = "WebSocket refused: \(reason)"
      throw TransportFailure(.notAuthorized, reason, advice: "")
    }
  }

  /// The first byte is that of no head.
  private func refuseBytes(_ first: UInt8) {
    let isTLS = (0x14...0x17).contains(first)
    state.complaints.waiting =
      "no WebSocket: the connection begins with " + (isTLS ? "TLS" : "something else than HTTP")
    if isTLS, tls == nil {
      _ = fail(.unreachable, "it answers with TLS, not in clear", advice: "Write sdl+wss instead of sdl+ws.")
    } else {
      state.phase = .failed(.notHTTP)
    }
  }

  private func fail(_ kind: TransportFailure.Kind, _ reason: String, advice: String = "Its log may say why.")
    -> Progress
  {
    let failure = TransportFailure(kind, reason, advice: advice)
    state.phase = .failed(failure)
    return .failed(failure)
  }

  private func fail(_ error: TLSError) -> Progress {
    let advice =
      switch error.kind {
      case .peerUntrusted, .peerExpired:
        "Name the authority of its certificate (ca-certificates), or check the clock and the host."
      case .alert: "It may want a certificate (certificate, private-key), or another one."
      case .protocolViolation: "If it takes WebSocket in clear there, write sdl+ws instead of sdl+wss."
      default: "Its log may say why."
      }
    state.complaints.waiting = "TLS of the WebSocket failed: \(error.description)"
    return fail(.notAuthorized, "TLS failed: \(error.description)", advice: advice)
  }

  private func text(_ code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

  // MARK: Receiving

  private func receiveLocked(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    if case .handshake = state.phase, case .waiting = advanceLocked() { return .wouldBlock }
    for _ in 0..<Self.maximumIdleReads {
      guard case .open = state.phase else { return .endOfStream }
      let transfer = receiveFramed(into: buffer)
      guard case .bytes(let byteCount) = transfer else { return transfer }
      let count: Int
      do throws(WebSocketFault) {
        count = try state.input.decode(UnsafeMutableRawBufferPointer(rebasing: buffer[..<byteCount]))
      } catch {
        return breakOff("broken WebSocket framing: \(error)", code: error.code)
      }
      answerControlFrames()
      state.idleByteCount = count > 0 ? 0 : state.idleByteCount + byteCount
      if count > 0 { return .bytes(count) }
      if state.idleByteCount > Self.maximumIdleByteCount {
        // Policy violation (RFC 6455, section 7.4.1).
        return breakOff("\(state.idleByteCount) bytes over WebSocket without any of SDL", code: 1008)
      }
    }
    return .wouldBlock
  }

  private func breakOff(_ complaint: String, code: UInt16) -> Transfer {
    state.complaints.waiting = complaint
    close(code: code)
    return .failed(errno: EPROTO)
  }

  /// Bytes of frames, as the peer has sent them.
  private func receiveFramed(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    if state.early.isEmpty {
      guard let tls else { return carrier.receive(into: buffer) }
      if let transfer = receiveRecords(tls, wanted: buffer.count) { return transfer }
    }
    let count = min(state.early.count, buffer.count)
    buffer.copyBytes(from: state.early[..<count])
    state.early.removeFirst(count)
    return .bytes(count)
  }

  /// Decrypts more; nil if there are bytes now.
  private func receiveRecords(_ tls: TLSSession, wanted: Int) -> Transfer? {
    withUnsafeTemporaryAllocation(byteCount: Self.recordReadSize, alignment: 8) { records in
      var result: Transfer?
      repeat {
        let transfer = carrier.receive(into: records)
        guard case .bytes(let count) = transfer else {
          result = state.early.isEmpty ? transfer : nil
          break
        }
        let step = tls.receive(UnsafeRawBufferPointer(rebasing: records[..<count]), into: &state.early)
        if let failure = takeOutput(of: step) {
          _ = flush()
          // After the first failure, it is misuse.
          if ![.alert, .misuse].contains(failure.kind) {
            state.complaints.waiting = "TLS of the WebSocket failed: \(failure)"
          }
          if state.early.isEmpty { result = failure.kind == .alert ? .endOfStream : .failed(errno: EPROTO) }
          carrier.shutDown()
          break
        }
        // Two records may be completed at once.
      } while wanted - state.early.count >= 2 * Self.recordReadSize + TLSRecord.maximumOverhead
      return result
    }
  }

  /// Returns why TLS is over. A peer may ask for one handshake after the other, each of which is refused.
  private func takeOutput(of step: TLSSession.HandshakeStep) -> TLSError? {
    state.unwritten.append(step.output)
    guard state.unwritten.count <= Self.writeSize else {
      return TLSError(.protocolViolation, "the peer does not read the answers to its handshakes")
    }
    return step.failure
  }

  private func answerControlFrames() {
    guard case .open = state.phase else { return }
    if state.input.isClosed {
      // A message that was begun goes first (RFC 6455, section 5.5.1), with a byte of it that is held back.
      guard state.output.isBetweenMessages, state.heldBackCount == 0 else { return }
      return close(code: state.input.closeCode)
    }
    writePong()
    _ = flush()
  }

  /// As soon as no message is in the way.
  private func writePong() {
    guard state.output.isBetweenMessages, state.unwritten.isEmpty, let payload = state.input.takePing() else { return }
    enqueue(state.output.control(10, payload))
  }

  private func close(code: UInt16?) {
    sayEnd(code: code)
    // The reader finds the end, although the peer may wait for this end to close.
    carrier.shutDown()
  }

  /// Tells the peer that this is the end, by Close and by TLS, as far as the kernel takes that at once.
  private func sayEnd(code: UInt16?) {
    if case .open = state.phase, state.output.isBetweenMessages {
      let payload = code.map { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []
      enqueue(state.output.control(8, payload))
    }
    state.phase = .over
    if let tls { state.unwritten.append(tls.end()) }
    _ = flush()
  }

  // MARK: Sending

  /// Adds bytes that are written before any others.
  private func enqueue(_ bytes: [UInt8]) {
    guard let tls else { return state.unwritten.append(bytes) }
    bytes.withUnsafeBytes { bytes in
      withUnsafeTemporaryAllocation(byteCount: bytes.count + TLSRecord.maximumOverhead, alignment: 8) { record in
        guard let count = try? tls.encrypt(bytes, into: record) else { return state.phase = .over }
        state.unwritten.append(record[..<count])
      }
    }
  }

  /// Writes what waits, as far as the kernel takes it; returns the error.
  private func flush() -> Int32? {
    while !state.unwritten.isEmpty {
      switch state.unwritten.write(to: carrier) {
      case .bytes: break
      case .wouldBlock: return nil
      case .endOfStream: return EPIPE
      case .failed(let code): return code
      }
    }
    return nil
  }

  private func sendLocked(_ given: [UnsafeRawBufferPointer]) -> Transfer {
    let transfer = sendMessages(given)
    // The writer may have nothing more for a while.
    answerControlFrames()
    return transfer
  }

  private func sendMessages(_ given: [UnsafeRawBufferPointer]) -> Transfer {
    switch state.phase {
    case .handshake: return .wouldBlock
    case .failed, .over: return .failed(errno: EPIPE)
    case .open: break
    }
    writePong()
    if let code = flush() { return .failed(errno: code) }
    guard state.unwritten.isEmpty else { return .wouldBlock }
    let held = state.heldBackCount
    let pieces = given.dropping(held)
    guard !pieces.isEmpty else {
      state.heldBackCount = 0
      return held > 0 ? .bytes(held) : .wouldBlock
    }
    if state.output.isBetweenMessages {
      state.output.begin(pieces)
    }
    return tls.map { sendEncrypted(pieces, held, by: $0) } ?? sendInClear(pieces)
  }

  private func sendInClear(_ pieces: [UnsafeRawBufferPointer]) -> Transfer {
    let count = state.output.fill(memory, from: pieces)
    let transfer = carrier.send(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    guard case .bytes(let written) = transfer else { return transfer }
    let accepted = state.output.advance(by: written)
    guard accepted == 0 else { return .bytes(accepted) }
    // Of a frame that has not begun, the writer may send another one first, and the header would be wrong for that: so
    // the frame's first byte follows its header.
    let beginning = UnsafeMutableRawBufferPointer(rebasing: memory[..<(state.output.headerByteCount + 1)])
    let size = state.output.fill(beginning, from: pieces)
    state.unwritten.append(beginning[..<size])
    return .bytes(state.output.advance(by: size))
  }

  /// A record that was begun has to be written. The writer comes back to write its rest, because the last byte counts
  /// only then; in the middle of a frame it comes with the same bytes.
  private func sendEncrypted(_ pieces: [UnsafeRawBufferPointer], _ held: Int, by tls: TLSSession) -> Transfer {
    let plaintext = UnsafeMutableRawBufferPointer(rebasing: memory[..<TLSRecord.maximumPlaintext])
    let count = state.output.fill(plaintext, from: pieces)
    let record = UnsafeMutableRawBufferPointer(rebasing: memory[TLSRecord.maximumPlaintext...])
    guard let size = try? tls.encrypt(UnsafeRawBufferPointer(rebasing: plaintext[..<count]), into: record) else {
      state.phase = .over
      return .failed(errno: EPROTO)
    }
    state.unwritten.append(record[..<size])
    let accepted = held + state.output.advance(by: count)
    if let code = flush() { return .failed(errno: code) }
    state.heldBackCount = state.unwritten.isEmpty ? 0 : 1
    let reported = accepted - state.heldBackCount
    return reported > 0 ? .bytes(reported) : .wouldBlock
  }
}

extension [UnsafeRawBufferPointer] {
  /// The rest after the first bytes.
  fileprivate func dropping(_ count: Int) -> [UnsafeRawBufferPointer] {
    var rest = count
    return compactMap { piece in
      let skipped = Swift.min(rest, piece.count)
      rest -= skipped
      return skipped == piece.count ? nil : UnsafeRawBufferPointer(rebasing: piece[skipped...])
    }
  }
}
