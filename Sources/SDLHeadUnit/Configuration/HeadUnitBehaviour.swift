import SDLMessages
import SDLWire

/// Deviations from a healthy SDL Core, for tests of apps. The default has none.
package struct HeadUnitBehaviour: Equatable, Sendable {
  /// Answer to a control request that needs no parameters.
  package enum ControlAnswer: String, Equatable, Sendable {
    case acknowledge = "ack"
    case reject = "nak"
    case silence
  }

  package enum RPCAnswer: Equatable, Sendable {
    /// By the rules of SDL Core.
    case regular
    /// A fixed result; a registration with `success` true continues as usual.
    case result(ResultCode, success: Bool)
    case silence
  }

  /// Answer of the HMI to a video start that SDL Core passes on.
  package enum VideoStartAnswer: Equatable, Sendable {
    /// Accepts starts that the capabilities cover, refuses others.
    case regular
    /// Acknowledges every request, as SDL Core does without an HMI.
    case echo
    /// Acknowledges every request with these parameters.
    case acknowledge(VideoServiceParameters)
    /// Refuses, naming keys of the request.
    case reject([String], reason: String? = nil)
    /// The request is lost: no answer, and no service.
    case silence
  }

  /// Answer to a start of audio that SDL Core passes on.
  package enum AudioStartAnswer: String, CaseIterable, Equatable, Sendable {
    case acknowledge = "ack"
    case reject = "nak"
    /// The request is lost: no answer, and no service.
    case silence
    /// Acknowledges, and ends the service at once.
    case acknowledgeAndEnd = "end"
  }

  /// A secondary transport that is offered to sessions from their start on (SDL-0141).
  package enum SecondaryTransportOffer: Equatable, Sendable {
    case off
    /// An address that the head unit does not serve: RegisterSecondaryTransport gets a NAK.
    case elsewhere(TransportEventUpdate)
    /// An address that the head unit itself serves: ``HeadUnitSession/setServedTransport(_:now:)``.
    case served
  }

  /// Answer to RegisterSecondaryTransport that SDL Core would acknowledge.
  package enum SecondaryRegistrationAnswer: String, CaseIterable, Equatable, Sendable {
    case acknowledge = "ack"
    case reject = "nak"
    case silence
    /// Acknowledges, and closes the connection at once.
    case acknowledgeAndClose = "close"
  }

  /// When the head unit sends heartbeats.
  package enum Heartbeat: Equatable, Sendable {
    /// Answers; begins to monitor (every 7 s) only after the app's first heartbeat.
    case likeCore
    /// Pings on its own from the registration on, whether or not there is other traffic.
    case pings(every: Duration)
    /// Neither answers nor pings.
    case silence
  }

  /// The media player that takes the video from SDL Core to the screen.
  package enum Player: Equatable, Sendable {
    /// Connects this long after the start of each video service; the video until then is lost.
    case connects(after: Duration)
    case absent
  }

  /// Which sessions get a ServiceDataACK for every video message.
  package enum ServiceDataAcknowledgement: Equatable, Sendable {
    /// Protocol 2–4 only, as SDL Core does.
    case likeCore
    case always
    case never
  }

  /// The course of a TLS handshake, and the answer to the app's certificate.
  package enum Handshake: String, CaseIterable, Equatable, Sendable {
    case regular
    /// The start is never answered.
    case silence
    /// Bytes that are no TLS.
    case garbage
    /// A complete handshake, and an acknowledgement in clear all the same.
    case clear
    /// The head unit's last message (Finished) is not sent, and the acknowledgement is encrypted all the same, as from SDL
    /// Core as TLS server now and then.
    case lostFinished = "lost-finished"
    /// … is replaced by bytes that are no TLS, behind the acknowledgement.
    case garbledFinished = "garbled-finished"
    /// The app's certificate is refused as one that has expired.
    case expired
    /// … as that of another app.
    case wrongID = "wrong-id"
    /// … as one of an unknown authority.
    case unknownAuthority = "unknown-ca"
  }

  /// The answer to an RPC in place of the head unit's own; the request has no other effect.
  package struct ScriptedAnswer: Equatable, Sendable {
    /// Regular is the head unit's own, with all its effects.
    package var answer: RPCAnswer
    /// For the next request of each app alone.
    package var isOnce = false
    /// From the request to the answer.
    package var delay: Duration?
    /// Beside the result, or in place of those of the head unit's own answer.
    package var members: JSONObject = [:]
  }

  /// By RPCs.
  package var answers: [FunctionID: ScriptedAnswer] = [:]
  /// To a start of video with the E bit, if the head unit accepts it.
  package var handshake = Handshake.regular
  /// To StartService(RPC).
  package var rpcStart: ControlAnswer = .acknowledge
  /// To RegisterAppInterface that is valid.
  package var registration: RPCAnswer = .regular
  /// To StartService(video), used in turn; the last one repeats. Empty means regular.
  package var videoStarts: [VideoStartAnswer] = []
  /// To StartService(audio), if it is allowed.
  package var audioStart = AudioStartAnswer.acknowledge
  /// From StartService(video), if it is allowed, to the answer. Nil answers as SDL Core does, after a moment in which
  /// no data may come; zero answers with the next ``HeadUnitSession/advance(to:)``, so that the answer can still be
  /// changed when the request is reported.
  package var videoStartDelay: Duration?
  package var player = Player.connects(after: .zero)
  /// SDL Core's VideoDataStoppedTimeout: after so long without video its output is closed, and reopened with the next
  /// video; nil never closes it.
  package var videoDataTimeout: Duration? = CoreLimits.videoDataStopped
  /// Changes are sent to sessions whose StartServiceACK offered a secondary transport.
  package var secondaryTransport = SecondaryTransportOffer.off
  /// The time from the session's start, or a change, until the address is sent to the app; nil sends it at once.
  package var secondaryTransportDelay: Duration?
  /// To RegisterSecondaryTransport.
  package var secondaryRegistration = SecondaryRegistrationAnswer.acknowledge
  /// Where later sessions may start audio, in order of preference; nil is SDL Core's list, the primary one before the
  /// secondary one. The secondary one counts only where it is offered.
  package var audioTransports: [TransportRole]?
  /// The same for video.
  package var videoTransports: [TransportRole]?
  /// Whether a refused start of video or audio costs the app its HMI level, as in SDL Core 6 and later.
  package var dropsToNoneAfterRefusal = true
  /// To EndService of any service.
  package var serviceEnd: ControlAnswer = .acknowledge
  /// Whether the head unit's own EndService(video) is sent twice (observed on SDL Core).
  package var endsVideoServiceTwice = false
  package var heartbeat: Heartbeat = .likeCore
  package var serviceDataAcknowledgement: ServiceDataAcknowledgement = .likeCore
  /// Whether OnDriverDistraction and OnSystemRequest (lock-screen icon) follow the registration, as from SDL Core.
  package var sendsCoreNotifications = false
  /// Bytes of the policy update that SDL Core sends 2 s after the registration as the bulk part of OnSystemRequest on
  /// the hybrid service; nil sends none.
  package var policyUpdateSize: Int?
  /// Whether FULL comes at once after NONE, before OnPermissionsChange, instead of after the activation delay.
  package var activatesBeforePermissions = false

  /// Creates the default: no deviations.
  package init() {}
}

extension HeadUnitBehaviour {
  package enum Change: Equatable, Sendable {
    case rpcStart(ControlAnswer)
    case handshake(Handshake)
    case registration(RPCAnswer)
    case answer(FunctionID, ScriptedAnswer)
    case videoStart(VideoStartAnswer)
    case audioStart(AudioStartAnswer)
    case serviceEnd(ControlAnswer)
    /// Also applies to a start whose answer is still to come. Zero defers answers too:
    /// ``HeadUnitBehaviour/videoStartDelay``.
    case videoStartDelay(Duration)
    case dropsToNoneAfterRefusal(Bool)
    case heartbeat(Heartbeat)
    case player(Player)
    case videoDataTimeout(Duration?)
    case secondaryTransport(SecondaryTransportOffer)
    case secondaryTransportDelay(Duration?)
    case secondaryRegistration(SecondaryRegistrationAnswer)
    case audioTransports([TransportRole]?)
    case videoTransports([TransportRole]?)
  }

  /// Answers for once belong to the apps that are there, or to the next one.
  package mutating func forgetAnswersForOnce() { answers = answers.filter { !$0.value.isOnce } }

  package mutating func apply(_ change: Change) {
    switch change {
    case .rpcStart(let answer): rpcStart = answer
    case .handshake(let handshake): self.handshake = handshake
    case .registration(let answer): registration = answer
    case .answer(let function, let answer):
      answers[function] = answer.answer == .regular && answer.members.isEmpty ? nil : answer
    case .videoStart(let answer): videoStarts = [answer]
    case .audioStart(let answer): audioStart = answer
    case .serviceEnd(let answer): serviceEnd = answer
    case .videoStartDelay(let delay): videoStartDelay = delay
    case .dropsToNoneAfterRefusal(let drops): dropsToNoneAfterRefusal = drops
    case .heartbeat(let heartbeat): self.heartbeat = heartbeat
    case .player(let player): self.player = player
    case .videoDataTimeout(let timeout): videoDataTimeout = timeout
    case .secondaryTransport(let offer): secondaryTransport = offer
    case .secondaryTransportDelay(let delay): secondaryTransportDelay = delay
    case .secondaryRegistration(let answer): secondaryRegistration = answer
    case .audioTransports(let transports): audioTransports = transports
    case .videoTransports(let transports): videoTransports = transports
    }
  }
}
