import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// What a replay takes over from its recording, and the bounds within which it compares.
@Suite struct RecordedHeadUnitTests {
  private static let up = "app→hu"
  private static let down = "hu→app"

  /// A line of a head unit's log.
  private static func line(
    _ time: Double, _ direction: String, _ kind: String, session: Int = 1, _ members: JSONObject
  ) -> String {
    let common: JSONObject = [
      "t": .number(time), "dir": .string(direction), "kind": .string(kind), "session": .integer(session),
      "app": .string("Map"),
    ]
    return String(decoding: members.merging(common) { $1 }.serialized, as: UTF8.self)
  }

  private static func request(
    _ time: Double, _ function: FunctionID, _ id: Int, _ parameters: JSONObject = [:], session: Int = 1
  ) -> String {
    line(
      time, up, "rpc", session: session,
      [
        "type": .string("request"), "function": .string(function.description), "correlationID": .integer(id),
        "params": .object(parameters), "service": .string("rpc"),
      ])
  }

  private static func response(
    _ time: Double, _ function: FunctionID, _ id: Int, _ parameters: JSONObject, session: Int = 1
  ) -> String {
    line(
      time, down, "rpc", session: session,
      [
        "type": .string("response"), "function": .string(function.description), "correlationID": .integer(id),
        "params": .object(parameters), "service": .string("rpc"),
      ])
  }

  private static func frame(
    _ time: Double, _ direction: String, _ type: String, _ service: String, _ parameters: JSONObject = [:],
    session: Int = 1
  ) -> String {
    line(
      time, direction, "frame", session: session,
      ["type": .string(type), "service": .string(service), "params": .object(parameters)])
  }

  private static let success = RPCResult(success: true, resultCode: .success).json

  /// The registration, and what follows it.
  private static func recording(_ lines: [String]) throws -> ConversationRecording {
    let registration = [request(1, .registerAppInterface, 1), response(1, .registerAppInterface, 1, success)]
    return try ConversationRecording(parsing: Array((registration + lines).joined(separator: "\n").utf8))
  }

  /// A message may come 49 messages before its turn.
  @Test(arguments: [(49, nil), (50, "the recorded app did not send it here")])
  func messagesBeforeTheirTurn(between: Int, difference: String?) throws {
    let shows = (0..<between).map { Self.request(2, .show, $0 + 2) }
    var replay = Replay(try Self.recording(shows + [Self.request(3, .alert, 900)]))
    _ = replay.start()
    for function in [FunctionID.registerAppInterface, .alert] {
      let rpc = RPCMessage(type: .request, function: function, correlationID: 9)
      replay.note(ConversationMessage(sender: .app, content: .rpc(rpc)), app: 1, now: .seconds(100))
    }
    #expect(replay.takeOutcomes().map(\.failure) == (difference.map { [$0] } ?? []))
  }

  /// What came within 5 ms came at once.
  @Test(arguments: [(4, false), (6, true)]) func shortDelays(milliseconds: Int, isKept: Bool) throws {
    let answered = 2 + Double(milliseconds) / 1000
    let replay = Replay(
      try Self.recording([Self.request(2, .show, 2), Self.response(answered, .show, 2, Self.success)]))
    let delays = Self.answers(replay, to: .show).map(\.delay)
    #expect(delays.count == 1 && (delays.first.flatMap { $0 } != nil) == isKept)
  }

  private static func answers(_ replay: Replay, to function: FunctionID) -> [HeadUnitBehaviour.ScriptedAnswer] {
    var replay = replay
    return replay.start().compactMap {
      if case .behave(.answer(function, let answer)) = $0 { answer } else { nil }
    }
  }

  /// The head unit carries out what the recorded one has, and nothing that it has refused.
  @Test(arguments: [FunctionID.unregisterAppInterface, .getSystemCapability, .sendHapticData, .show], [true, false])
  func effectsOfAnswers(function: FunctionID, isCarriedOut: Bool) throws {
    let result = isCarriedOut ? Self.success : RPCResult(success: false, resultCode: .disallowed).json
    let replay = Replay(
      try Self.recording([Self.request(2, function, 2), Self.response(2, function, 2, result)]))
    let answers = Self.answers(replay, to: function).map(\.answer)
    // Of others only the answer counts.
    let hasEffect = isCarriedOut && function != .show
    let code: ResultCode = isCarriedOut ? .success : .disallowed
    #expect(answers == [hasEffect ? .regular : .result(code, success: isCarriedOut)])
  }

  /// An app that was not answered tries again, and what is answered then is not the answer to the first attempt.
  @Test func answersOfStarts() throws {
    let recording = try Self.recording([
      Self.frame(2, Self.up, "StartService", "video"), Self.frame(3, Self.up, "StartService", "video"),
      Self.frame(4, Self.up, "StartService", "audio"), Self.frame(4, Self.down, "StartServiceNAK", "audio"),
      Self.frame(5, Self.up, "StartService", "video", session: 2),
      Self.frame(5, Self.down, "StartServiceNAK", "video", session: 2),
      Self.frame(6, Self.down, "StartServiceACK", "video", ["width": .integer(640)]),
    ])
    // Behind the registration and its response.
    func answer(_ index: Int, _ service: ServiceType = .video) -> String? {
      recording.answer(toStartOf: service, behind: index + 2).map {
        "\($0.time) \($0.isAccepted) \($0.parameters["width"]?.integer ?? 0)"
      }
    }
    #expect(answer(0) == nil)
    #expect(answer(1) == "6.0 seconds true 640")
    #expect(answer(2, .audio) == "4.0 seconds false 0")
    #expect(answer(4) == "5.0 seconds false 0")
  }

  /// Correlation IDs come again, as do the functions of other sessions.
  @Test func answersOfRequests() throws {
    func response(_ time: Double, _ function: FunctionID, _ code: ResultCode, session: Int = 1) -> String {
      Self.response(time, function, 7, RPCResult(success: false, resultCode: code).json, session: session)
    }
    let recording = try Self.recording([
      Self.request(2, .show, 7), Self.request(2, .show, 7, session: 2), Self.request(2, .alert, 7),
      response(3, .show, .disallowed, session: 2), response(3, .alert, .aborted), response(4, .show, .rejected),
      Self.request(5, .show, 7), response(6, .show, .timedOut), Self.request(7, .show, 7), Self.request(7, .show, 8),
    ])
    let answers = try [0, 1, 2, 6, 8, 9].map { index in
      let request = try #require(recording.entries[index + 2].message?.request)
      return recording.response(to: request, behind: index + 2).map {
        "\($0.time) \($0.parameters["resultCode"]?.string ?? "")"
      }
    }
    #expect(
      answers == [
        "4.0 seconds REJECTED", "3.0 seconds DISALLOWED", "3.0 seconds ABORTED", "6.0 seconds TIMED_OUT", nil, nil,
      ])
  }

  /// Of several answers the first that says it: not a refusal, not one about something else, and not a later one.
  @Test func firstAnswersAreTakenOver() throws {
    func capability(_ id: Int, _ type: String, _ maxBitrate: Int) -> [String] {
      let answer: JSONObject = [
        "systemCapabilityType": .string(type),
        "videoStreamingCapability": .object(["maxBitrate": .integer(maxBitrate)]),
      ]
      return [
        Self.request(2, .getSystemCapability, id, ["systemCapabilityType": .string(type)]),
        Self.response(2, .getSystemCapability, id, Self.success.merging(["systemCapability": .object(answer)]) { $1 }),
      ]
    }
    let starts = [("StartServiceNAK", "A"), ("StartServiceACK", "B"), ("StartServiceACK", "C")].flatMap {
      [Self.frame(0.5, Self.up, "StartService", "rpc"), Self.frame(0.5, Self.down, $0, "rpc", ["make": .string($1)])]
    }
    var configuration = HeadUnitPreset.standard.configuration
    configuration.adopt(
      try Self.recording(
        starts + [Self.request(1, .getSystemCapability, 2, ["systemCapabilityType": .string("VIDEO_STREAMING")])]
          + capability(3, "NAVIGATION", 300) + capability(4, "VIDEO_STREAMING", 400)
          + capability(5, "VIDEO_STREAMING", 500)))
    #expect(configuration.vehicle.make == "B")
    #expect(configuration.videoCapability?.maxBitrate == 400)
  }

  private static let vehicle = ["Rover", "P6", "1972", "V8", "1.2"]

  private func isVehicle(_ vehicle: VehicleDescription) -> Bool {
    [vehicle.make, vehicle.model, vehicle.modelYear, vehicle.trim, vehicle.systemSoftwareVersion] == Self.vehicle
  }

  @Test func vehicleOfTheAcknowledgement() throws {
    let names = ["make", "model", "modelYear", "trim", "systemSoftwareVersion"]
    var members = JSONObject(uniqueKeysWithValues: zip(names, Self.vehicle.map(JSONValue.string)))
    members["systemHardwareVersion"] = .string("3.4")
    let frames = [(Self.up, "StartService", [:]), (Self.down, "StartServiceACK", members)].map {
      Self.line(
        0.5, $0, "frame", ["type": .string($1), "service": .string("rpc"), "params": .object($2)])
    }
    var configuration = HeadUnitPreset.standard.configuration
    configuration.adopt(try Self.recording(frames + [Self.request(2, .show, 2)]))
    #expect(isVehicle(configuration.vehicle) && configuration.vehicle.systemHardwareVersion == "3.4")
    // An acknowledgement without a version is of protocol 4.
    #expect(configuration.maximumProtocolVersion == ProtocolVersion(4))
  }

  /// The driver and the HMI are those of the recording: nothing is opened, or refused, that it does not say.
  @Test func registrationOfTheRecording() throws {
    var response = RegisterAppInterfaceResponse(result: RPCResult(success: true, resultCode: .success))
    response.rpcVersion = RPCVersion(6, 1)
    response.language = "FR-CA"
    response.screenResolution = VideoSize(1024, 600)
    response.pcmFormat = PCMFormat(samplingRate: .hertz44000, sampleSize: .bits8)
    (response.make, response.model, response.modelYear) = (Self.vehicle[0], Self.vehicle[1], Self.vehicle[2])
    (response.trim, response.systemSoftwareVersion) = (Self.vehicle[3], Self.vehicle[4])
    let lines = [
      Self.request(1, .registerAppInterface, 1), Self.response(1, .registerAppInterface, 1, response.json),
    ]
    var configuration = HeadUnitPreset.standard.configuration
    configuration.adopt(try ConversationRecording(parsing: Array(lines.joined(separator: "\n").utf8)))
    #expect(configuration.rpcVersion == RPCVersion(6, 1) && configuration.language == "FR-CA")
    #expect(configuration.screen == VideoSize(1024, 600) && configuration.pcmFormat == response.pcmFormat)
    #expect(isVehicle(configuration.vehicle))
    #expect(configuration.activation == nil && !configuration.refusesUnknownSizes)
    #expect(!configuration.behaviour.dropsToNoneAfterRefusal)
  }
}
