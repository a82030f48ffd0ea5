import SDLMessages
import SDLWire

/// The audio service of a session: from the app's request to the right to send.
struct AudioService: RequestedService {
  /// The sound that the app asks for; nil for none.
  var request: AudioStartRequest?
  var end: AppSession.ServiceEnd?
  var transport = ServiceTransport()
  var lifecycle = StreamLifecycle<AudioStartRequest>()
  var lastGrant: AudioGrant?
  /// The head unit has refused sound for good.
  private var isRefused = false

  init(_ configuration: AppSession.Configuration, canEncrypt: Bool) {
    lifecycle.timeouts = StreamTimeouts(configuration, canEncrypt: canEncrypt)
    lifecycle.isNeverProtected = !canEncrypt
    lifecycle.history.limits.longestPause = configuration.longestVideoRetry
  }

  static var type: ServiceType { .audio }

  func nextDeadline(now: Duration) -> Duration? {
    lifecycle.nextDeadline.earlier(transport.nextDeadline(now: now))
  }

  /// The demanded state of the service. It does not depend on whether the app is in the foreground of its own device: a
  /// navigation app speaks in the background as well. An app that is not audible keeps its service as long as its level
  /// allows one: SDL Core leaves it open if nothing is sent.
  func unplacedDemand(
    _ context: SessionContext, beside video: some RequestedService
  ) -> StreamDemand<AudioStartRequest> {
    guard context.isRegistered else { return .closed(.app) }
    let isMedia = context.configuration.isMediaApplication || context.configuration.appType == .media
    guard let status = context.hmiStatus, status.allowsAudio(isMedia: isMedia) else { return .forbidden }
    // A further refusal could cost the app its level, and with that the picture.
    guard let request, !(isRefused && video.request != nil) else { return .closed(.app) }
    return status.isAudible ? .stream(request) : .hold
  }

  func answer(payload: [UInt8], _ context: inout SessionContext) -> AudioServiceAcknowledgement {
    AudioServiceAcknowledgement(payload: payload)
  }

  mutating func perform(_ outputs: [StreamLifecycle<AudioStartRequest>.Output], _ context: inout SessionContext) {
    for output in outputs {
      switch output {
      case .sendStartService:
        let isEncrypted = context.security.starts(.audio, now: context.now)
        context.messenger.send(.startService, .audio, on: transport.role, isEncrypted: isEncrypted)
      case .sendEndService: sendEndService(&context)
      case .started(let acknowledgement):
        let format = context.headUnit?.announcedPCMFormat
        let grant = AudioGrant(
          media: mediaGrant(mtu: acknowledgement.mtu, &context), format: format ?? PCMFormat(),
          isFormatAssumed: format == nil)
        lastGrant = grant
        isRefused = false
        transport.started()
        context.messenger.report(.audioStarted(grant))
      case .held, .resumed, .withdrawn: break
      case .stopped(let reason):
        end = lastGrant.map { AppSession.ServiceEnd(epoch: $0.epoch, reason: reason) }
        context.messenger.report(.audioStopped(reason))
      case .startFailed(let failure, _, let retryAfter):
        if retryAfter == nil { isRefused = true }
        guard isAskedFor(context) else { break }
        context.messenger.report(
          .audioStartFailed(context.security.failed(.audio, failure), retryAfter: retryAfter))
        avoidSecondary(after: failure, &context)
      }
    }
  }
}

/// The app's request for sound: without parameters, since the head unit alone chooses the format.
package struct AudioStartRequest: Hashable, Sendable {
  /// Creates a request for sound in the head unit's format.
  package init() {}
}

extension AudioStartRequest: ServiceRequest {
  package static var mediaName: String { "audio" }

  var isBare: Bool { false }

  func acceptance(_ answer: AudioServiceAcknowledgement) throws(AudioStartFailure) -> AudioServiceAcknowledgement {
    answer
  }

  func following(_ acceptance: AudioServiceAcknowledgement) -> AudioStartRequest { self }
}
