/// The requests to try, from the first choice downwards, when the head unit refuses starts of video and names
/// parameters.
///
/// A refused width or height leads to the next size, a refused codec or protocol to the next protocol, both to both.
/// When sizes or protocols have run out, one start without parameters is the last resort (SDL-0058); head units
/// without a capability take it as H.264 over RAW. After that nothing is left. No refused request is repeated, so there
/// are at most sizes + protocols − 1 requests before the last.
package struct VideoStartLadder: Equatable, Sendable {
  /// A request that the head unit refused.
  package struct Attempt: Equatable, Sendable {
    package var request: VideoStartRequest
    /// Keys of the request, as the head unit named them.
    package var rejectedParameters: [String]
  }

  private enum Step: Equatable, Sendable {
    case parameters
    case bare
    case exhausted
  }

  /// Sizes that have not been refused, in order of preference. Empty from the beginning when the head unit takes any
  /// size.
  package private(set) var sizes: [VideoSize]
  /// What has not been refused, in order of preference.
  package private(set) var protocols: [VideoStreamingProtocol]
  /// Refused requests, in their order.
  package private(set) var attempts: [Attempt] = []
  /// There are further sizes, but the input can't change.
  package private(set) var isInputFixed = false
  private var refusedSizes: Set<VideoSize> = []
  private var step = Step.parameters
  /// Only a head unit that refuses its own sizes gets that far.
  private var attemptLimit: Int

  /// A ladder without refusals. Without protocols there is nothing to request.
  package init(sizes: [VideoSize], protocols: [VideoStreamingProtocol]) {
    self.sizes = sizes
    self.protocols = protocols
    attemptLimit = max(sizes.count, 1) + protocols.count
    if protocols.isEmpty { step = .exhausted }
  }

  /// The refusals of `former` count on, as far as a size and a protocol are left to request.
  mutating func keepRefusals(of former: VideoStartLadder) {
    let sizes = sizes.filter { !former.refusedSizes.contains($0) }
    if !sizes.isEmpty {
      refusedSizes = former.refusedSizes.intersection(self.sizes)
      self.sizes = sizes
    }
    let refusedProtocols = former.attempts.map(\.request.streamingProtocol).filter { !former.protocols.contains($0) }
    let protocols = protocols.filter { !refusedProtocols.contains($0) }
    if !protocols.isEmpty { self.protocols = protocols }
    attempts = former.attempts.filter {
      refusedSizes.contains($0.request.size) || refusedProtocols.contains($0.request.streamingProtocol)
    }
    attemptLimit = attempts.count + max(self.sizes.count, 1) + self.protocols.count
  }

  /// Whether requests name size and format, as opposed to the last one, which names nothing.
  var asksWithParameters: Bool { step == .parameters }

  var hasRefusals: Bool { !attempts.isEmpty || isInputFixed }

  package var isExhausted: Bool { step == .exhausted }

  /// Whether pictures of `size` may still be requested.
  package func allows(_ size: VideoSize) -> Bool { step != .parameters || !refusedSizes.contains(size) }

  /// The request for pictures of `size`; nil if none is left.
  package func request(for size: VideoSize) -> VideoStartRequest? {
    switch step {
    case .parameters:
      guard allows(size), let streamingProtocol = protocols.first else { return nil }
      return VideoStartRequest(size: size, streamingProtocol: streamingProtocol)
    case .bare: return VideoStartRequest(size: size, streamingProtocol: .raw, isBare: true)
    case .exhausted: return nil
    }
  }

  /// The head unit refused `request`, for good.
  package mutating func refused(_ request: VideoStartRequest, _ failure: VideoStartFailure) {
    guard failure.isFinal(for: request), !isExhausted else { return }
    attempts.append(Attempt(request: request, rejectedParameters: failure.rejectedParameters))
    if request.isBare {
      step = .exhausted
      return
    }
    if failure.concernsSize {
      refusedSizes.insert(request.size)
      sizes.removeAll { $0 == request.size }
      if sizes.isEmpty { step = .bare }
    }
    if failure.concernsFormat {
      protocols.removeAll { $0 == request.streamingProtocol }
      if protocols.isEmpty { step = .bare }
    }
    if case .keptRefusing = failure { step = .bare }
    if attempts.count >= attemptLimit { step = .bare }
  }

  /// The input is of a size that was refused, and can't change: no other size can be tried.
  package mutating func fixInput() {
    guard step == .parameters else { return }
    isInputFixed = true
    step = .bare
  }
}

extension VideoStartLadder.Attempt: CustomStringConvertible {
  /// "H264 over RTP, 800×480 (rejected: videoProtocol)".
  package var description: String {
    "\(request)" + (rejectedParameters.isEmpty ? "" : " (rejected: \(rejectedParameters.joined(separator: ", ")))")
  }
}
