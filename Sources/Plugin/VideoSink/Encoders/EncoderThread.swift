import SDLLink

/// The thread on which functions of an encoder element run: one that does not return blocks only this thread.
///
/// It is used by one thread at a time.
final class EncoderThread: Sendable {
  /// Longer than the setup of hardware takes, or a picture on a busy machine.
  static let longestCall = Duration.seconds(5)

  typealias Work = @Sendable () -> Int32

  private enum Step: Sendable { case call(Work), end }

  private struct State: Sendable {
    var work: Work?
    var result: Int32?
    /// A call has not returned in time.
    var isStuck = false
    var last: Work?
    var isOver = false

    /// Nil while there is nothing to do.
    mutating func next() -> Step? {
      if let work = work.take() { return .call(work) }
      if let last = last.take() { return .call(last) }
      return isOver ? .end : nil
    }
  }

  private let state = Monitor(State())
  private let longestCall: Duration

  init(longestCall: Duration = longestCall) throws(LinkError) {
    self.longestCall = longestCall
    try WorkerThread.detach(name: "sdl-encoder") { [state] in
      while let result = Self.callNext(state) {
        state.change { $0.result = result }
      }
    }
  }

  deinit {
    state.change { $0.isOver = true }
  }

  /// Whether a call has not returned in time; nothing is called any more.
  var isStuck: Bool { state.withLock { $0.isStuck } }

  /// Calls a function, and waits for it.
  ///
  /// - Returns: nil if it does not return in time, or another has not.
  func call(_ work: @escaping Work) -> Int32? {
    let isTaken = state.withLock { state in
      guard !state.isStuck else { return false }
      state.work = work
      state.result = nil
      return true
    }
    guard isTaken else { return nil }
    state.broadcast()
    if let result = state.wait(until: MonotonicClock.now + longestCall, for: { $0.result.take() }) { return result }
    return state.withLock { state in
      state.isStuck = state.result == nil
      return state.result.take()
    }
  }

  /// Calls the next function. It has gone, with all that it holds, before its caller goes on.
  /// - Returns: nil if there will be none.
  private static func callNext(_ state: Monitor<State>) -> Int32? {
    guard case .call(let work)? = state.wait(until: nil, for: { $0.next() }) else { return nil }
    return work()
  }

  /// Calls a function as soon as one that is stuck has returned, if it ever does.
  func callLast(_ work: @escaping Work) {
    guard isStuck else {
      _ = call(work)
      return
    }
    state.change { $0.last = work }
  }
}
