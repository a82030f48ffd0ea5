import SDLMessages

/// An app's speech (Speak), one prompt after the other, and its recordings (PerformAudioPassThru). Nothing is audible;
/// it only takes the time of the speech.
struct AppSpeech: Sendable {
  /// The most that wait; more are refused.
  private static let mostWaiting = 50
  private static let timePerLetter = Duration.milliseconds(60)
  private static let shortest = Duration.milliseconds(500)

  /// A request, which is answered when it has been spoken.
  private struct Prompt: Sendable {
    let correlationID: Int32
    let duration: Duration
    /// The warning in the response.
    let warning: String?
  }

  /// The first one is being spoken.
  private var prompts: [Prompt] = []
  private var recording: MicrophoneRecording?

  mutating func speak(_ request: RPCMessage, _ files: AppFiles, _ context: inout ServedContext) {
    let chunks = request.parameters["ttsChunks"]
    if let info = Self.missingFile(in: chunks, files) { return context.refuse(request, .fileNotFound, info) }
    guard prompts.count < Self.mostWaiting else {
      return context.refuse(request, .rejected, "\(prompts.count) requests wait to be spoken")
    }
    prompts.append(
      Prompt(
        correlationID: request.correlationID, duration: Self.duration(of: chunks), warning: context.requestWarning))
    if prompts.count == 1 { armPrompt(&context) }
  }

  private func armPrompt(_ context: inout ServedContext) {
    if let prompt = prompts.first { context.timers.arm(.speech, at: context.now + prompt.duration) }
  }

  /// The present one has been spoken.
  mutating func promptDue(_ context: inout ServedContext) {
    guard !prompts.isEmpty else { return }
    let prompt = prompts.removeFirst()
    armPrompt(&context)
    context.respond(to: .speak, prompt.correlationID, .success, warning: prompt.warning)
  }

  mutating func record(_ request: RPCMessage, _ files: AppFiles, _ context: inout ServedContext) {
    let prompt = request.parameters["initialPrompt"]
    if let info = Self.missingFile(in: prompt, files) { return context.refuse(request, .fileNotFound, info) }
    guard recording == nil else { return context.refuse(request, .rejected, "A recording is running") }
    let start = prompt == nil ? context.now : context.now + Self.duration(of: prompt)
    guard
      let recording = MicrophoneRecording(
        request, context.configuration.microphone, warning: context.requestWarning, start: start)
    else {
      return context.refuse(request, .invalidData, "samplingRate or bitsPerSample can't be used")
    }
    self.recording = recording
    context.timers.arm(.microphone, at: recording.nextDeadline)
  }

  mutating func recordingDue(_ context: inout ServedContext) {
    guard var recording = recording.take() else { return }
    let sound = recording.take(until: context.now)
    if !sound.isEmpty { context.notify(.onAudioPassThru, [:], bulk: sound) }
    guard recording.isOver else {
      self.recording = recording
      return context.timers.arm(.microphone, at: recording.nextDeadline)
    }
    answer(recording, .success, &context)
  }

  /// The app has heard enough.
  mutating func endRecording(_ request: RPCMessage, _ context: inout ServedContext) {
    guard let recording = recording.take() else { return context.refuse(request, .rejected, "No recording is running") }
    context.timers.cancel(.microphone)
    context.respond(to: request, success: true, .success)
    answer(recording, .success, &context)
  }

  /// Ends speech and recordings that are not allowed at this level.
  mutating func abort(notAllowedAt level: HMILevel?, _ context: inout ServedContext) {
    let policy = context.policy
    if !policy.allows(.speak, at: level), !prompts.isEmpty {
      context.timers.cancel(.speech)
      for prompt in prompts { context.respond(to: .speak, prompt.correlationID, .aborted, warning: nil) }
      prompts = []
    }
    guard !policy.allows(.performAudioPassThru, at: level), let recording = recording.take() else { return }
    context.timers.cancel(.microphone)
    answer(recording, .aborted, &context)
  }

  private func answer(_ recording: MicrophoneRecording, _ code: ResultCode, _ context: inout ServedContext) {
    context.respond(to: .performAudioPassThru, recording.correlationID, code, warning: recording.warning)
  }

  /// How long it takes to speak `ttsChunks`; a file counts as a short word.
  private static func duration(of chunks: JSONValue?) -> Duration {
    let letters = (chunks?.array ?? []).reduce(0) { count, chunk in
      chunk.object?["type"]?.string == "FILE"
        ? count : count + (chunk.object?["text"]?.string?.unicodeScalars.count ?? 0)
    }
    return max(timePerLetter * letters, shortest)
  }

  /// The refusal if they name a file that the app has not uploaded.
  private static func missingFile(in chunks: JSONValue?, _ files: AppFiles) -> String? {
    let texts = (chunks?.array ?? []).compactMap(\.object).filter { $0["type"]?.string == "FILE" }
      .compactMap { $0["text"]?.string }
    return texts.first { !files.contains($0) }.map { "There is no file \($0.quoted)" }
  }
}

/// A recording from the car's microphone (PerformAudioPassThru): the sound that is configured, then silence.
struct MicrophoneRecording: Sendable {
  /// From one OnAudioPassThru to the next.
  static let interval = Duration.milliseconds(100)

  let correlationID: Int32
  /// The warning in the response.
  let warning: String?
  private let format: PCMFormat
  private let sound: WAVSound?
  private let end: Duration
  /// How many samples were sent.
  private var sampleCount = 0
  /// Until when it was sent.
  private var position: Duration

  /// - Parameter start: the end of the prompt before it.
  init?(_ request: RPCMessage, _ sound: WAVSound?, warning: String?, start: Duration) {
    guard let format = Self.format(of: request.parameters),
      let duration = request.parameters["maxDuration"]?.integer
    else { return nil }
    correlationID = request.correlationID
    self.warning = warning
    self.format = format
    self.sound = sound
    position = start
    end = start + .milliseconds(duration)
  }

  private static func format(of parameters: JSONObject) -> PCMFormat? {
    let members = ["samplingRate", "bitsPerSample"].compactMap { parameters[$0]?.string }
    return PCMFormat(text: members.joined(separator: "/"))
  }

  /// When the next part is due, or the end.
  var nextDeadline: Duration { min(position + Self.interval, end) }

  /// The sound since the last call.
  mutating func take(until now: Duration) -> [UInt8] {
    let time = max(min(now, end) - position, .zero)
    position += time
    let milliseconds = Int(time / .milliseconds(1))
    let count = format.samplingRate.hertz * milliseconds / 1000
    defer { sampleCount += count }
    let samples = sampleCount..<sampleCount + count
    if let sound { return sound.bytes(samples, format) }
    return [UInt8](repeating: format.sampleSize == .bits8 ? 0x80 : 0, count: count * format.sampleSize.byteCount)
  }

  var isOver: Bool { position >= end }
}
