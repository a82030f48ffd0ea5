import SDLWire

/// What an app asks of the head unit when it starts a service that carries media.
public protocol StreamRequest: Hashable, Sendable {
  /// "video" or "audio", for messages to the user.
  static var mediaName: String { get }
  /// What to do about a head unit that takes it encrypted only, for messages to the user.
  static var protectionAdvice: String { get }
}

/// How a ``StreamLifecycle`` deals with the head unit's answer to a request.
protocol ServiceRequest: StreamRequest {
  /// What a StartServiceACK says.
  associatedtype Answer
  /// What the app makes of it.
  associatedtype Acceptance: Equatable, Sendable

  /// Whether the service can be encrypted.
  static var canBeProtected: Bool { get }
  /// The last form of a request that has others: once it is refused, nothing is left to try.
  var isBare: Bool { get }
  /// - Throws: The failure when the answer names something that can't be sent.
  func acceptance(_ answer: Answer) throws(StreamStartFailure<Self>) -> Acceptance
  /// The request of an app that follows what the head unit has accepted, which is no change of the stream.
  func following(_ acceptance: Acceptance) -> Self
}

typealias VideoStream = StreamLifecycle<VideoStartRequest>
typealias AudioStream = StreamLifecycle<AudioStartRequest>
typealias VideoStartHistory = StreamStartHistory<VideoStartRequest>

/// Why a video stream could not start.
public typealias VideoStartFailure = StreamStartFailure<VideoStartRequest>
/// Why an audio stream could not start.
public typealias AudioStartFailure = StreamStartFailure<AudioStartRequest>
