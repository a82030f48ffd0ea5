import Glibc
import Synchronization

/// A host name on its way to addresses.
///
/// getaddrinfo can block for many seconds and cannot be interrupted, so it has a thread of its own. A caller that does
/// not want to wait any longer drops the resolver: thread and object end together when the name service answers.
package final class Resolver: Sendable {
  /// Addresses in the order of preference, never empty.
  package typealias Outcome = Result<[SocketAddress], LinkError>

  private let answer = Mutex<Outcome?>(nil)

  /// The answer of the name service; nil before there is one.
  package var outcome: Outcome? { answer.withLock { $0 } }

  private init() {}

  /// Begins; `wakeUp` is signalled once ``outcome`` is there. Numeric addresses are there at once, without a thread.
  package static func start(host: String, port: UInt16, wakeUp: WakeUp) throws(LinkError) -> Resolver {
    let resolver = Resolver()
    let numeric = addresses(host: host, port: port, flags: AI_NUMERICHOST)
    if case .success = numeric {
      resolver.answer.withLock { $0 = numeric }
      return resolver
    }
    try WorkerThread.detach(name: "sdl-resolve") {
      let outcome = addresses(host: host, port: port, flags: 0)
      resolver.answer.withLock { $0 = outcome }
      wakeUp.signal()
    }
    return resolver
  }

  /// Resolves now, blocking; with AI_PASSIVE, an address to listen on.
  package static func addresses(host: String?, port: UInt16, flags: Int32) -> Outcome {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    // No AI_ADDRCONFIG: without a network it would hide the loopback addresses as well.
    hints.ai_flags = flags | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, "\(port)", &hints, &list)
    guard code == 0 else {
      let text = code == EAI_SYSTEM ? strerror(errno).map { String(cString: $0) } : String(cString: gai_strerror(code))
      return .failure(.cannotResolve(host: host ?? "*", reason: text ?? "error \(code)"))
    }
    defer { freeaddrinfo(list) }
    let addresses = sequence(first: list, next: { $0?.pointee.ai_next }).prefix { $0 != nil }
      .compactMap { entry in
        entry.flatMap { $0.pointee.ai_addr }.flatMap { address in
          SocketAddress(copying: address, length: entry?.pointee.ai_addrlen ?? 0)
        }
      }
    guard !addresses.isEmpty else { return .failure(.cannotResolve(host: host ?? "*", reason: "no address")) }
    return .success(addresses)
  }
}

extension Resolver {
  /// Waits for the outcome; nil at `deadline`, or when after a signal of `wakeUp` the outcome is no longer wanted.
  package func wait(until deadline: Duration, clock: TimeSource, wakeUp: WakeUp, isWanted: () -> Bool) -> Outcome? {
    var descriptor = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
    while isWanted() {
      if let outcome { return outcome }
      guard clock.now < deadline else { return nil }
      withUnsafeMutablePointer(to: &descriptor) {
        pollDescriptors(UnsafeMutableBufferPointer(start: $0, count: 1), until: deadline, clock: clock)
      }
      wakeUp.clear()
    }
    return nil
  }
}
