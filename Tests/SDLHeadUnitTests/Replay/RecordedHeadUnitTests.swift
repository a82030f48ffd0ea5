import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// What a replay takes over from its recording, and the bounds within which it compares.
@Suite struct RecordedHeadUnitTests {
  private static let up = "app→hu"
  private static let down = "hu→app"

  /// A line of a head unit's log.
  private static func line(_ time: Double, _ direction: String, _ kind: String, _ members: JSONObject) -> String {
    let common: JSONObject = [
      "t": .number(time), "dir": .string(direction), "kind": .string(kind), "session": .integer(1),
      "app": .string("Map"),
    ]
    return String(decoding: members.merging(common) { $1 }.serialized, as: UTF8.self)
  }

  private static func request(_ time: Double, _ function: FunctionID, _ id: Int) -> String {
    line(
      time, up, "rpc",
      [
        "type": .string("request"), "function": .string(function.description), "correlationID": .integer(id),
        "params": .object([:]), "service": .string("rpc"),
      ])
  }

  private static func response(_ time: Double, _ function: FunctionID, _ id: Int, _ parameters: JSONObject) -> String {
    line(
      time, down, "rpc",
      [
        "type": .string("response"), "function": .string(function.description), "correlationID": .integer(id),
        "params": .object(parameters), "service": .string("rpc"),
      ])
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
    response.screenResolution = ImageResolution(1024, 600)
    response.pcmFormat = PCMFormat(samplingRate: .hertz44000, sampleSize: .bits8)
    (response.make, response.model, response.modelYear) = (Self.vehicle[0], Self.vehicle[1], Self.vehicle[2])
    (response.trim, response.systemSoftwareVersion) = (Self.vehicle[3], Self.vehicle[4])
    let lines = [
      Self.request(1, .registerAppInterface, 1), Self.response(1, .registerAppInterface, 1, response.json),
    ]
    var configuration = HeadUnitPreset.standard.configuration
    configuration.adopt(try ConversationRecording(parsing: Array(lines.joined(separator: "\n").utf8)))
    #expect(configuration.rpcVersion == RPCVersion(6, 1) && configuration.language == "FR-CA")
    #expect(configuration.screen == ImageResolution(1024, 600) && configuration.pcmFormat == response.pcmFormat)
    #expect(isVehicle(configuration.vehicle))
    #expect(configuration.activation == nil && !configuration.refusesUnknownSizes)
    #expect(!configuration.behaviour.dropsToNoneAfterRefusal)
  }
}
