import CPulse
import Glibc

/// The work of a process of its own: it makes a null sink at a sound server, and writes what is played there to its
/// descriptor 3. On SIGTERM, which its guard sends also when the program of the user was killed, it takes the sink away
/// again: a server keeps what its clients have loaded.
///
/// It prints ``ready`` when the program can play; before it ends by itself, it prints the reason.
///
/// libpulse's thread uses it, and the main thread with libpulse's lock.
package final class SoundProcess {
  static let argument = "--sound-process"
  static let ready = "ready"
  /// The exit status when there is no libpulse.
  static let missing: Int32 = 2
  private static let output: Int32 = 3
  /// 20 ms, of 4 bytes each.
  private static let fragment: UInt32 = 3840
  /// As much as a pipe takes as a whole (PIPE_BUF): a sample never comes in parts.
  private static let largestWrite = 4096

  private let pulse: CPulseFunctions
  private let loop: OpaquePointer
  private let context: OpaquePointer
  private let sink: String
  private let title: String
  private var stream: OpaquePointer?
  private var module: UInt32?
  private var isLoading = false
  private var failure: String?

  /// Does the work, if the arguments ask for it.
  /// - Returns: the status to exit with; nil if they do not.
  package static func run(_ arguments: [String]) -> Int32? {
    guard arguments.dropFirst().first == argument, arguments.count == 4 else { return nil }
    // Before libpulse's thread starts, so that only sigwait gets it.
    var ends = sigset_t()
    sigemptyset(&ends)
    sigaddset(&ends, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &ends, nil)
    signal(SIGPIPE, SIG_IGN)
    // A reader that is late loses sound, and does not hold the server up.
    _ = fcntl(output, F_SETFL, O_NONBLOCK)
    guard let pulse = cpulse_load(nil)?.pointee,
      let process = SoundProcess(pulse, sink: arguments[2], title: arguments[3])
    else {
      say("libpulse can't be loaded")
      return missing
    }
    process.begin()
    var number: Int32 = 0
    sigwait(&ends, &number)
    return process.end()
  }

  private init?(_ pulse: CPulseFunctions, sink: String, title: String) {
    guard let loop = pulse.pa_threaded_mainloop_new(), let api = pulse.pa_threaded_mainloop_get_api(loop),
      let context = pulse.pa_context_new(api, "sdl-car-window")
    else { return nil }
    (self.pulse, self.loop, self.context, self.sink, self.title) = (pulse, loop, context, sink, title)
  }

  private static func say(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(STDOUT_FILENO, line, line.count)
  }

  /// Ends the process, with that reason.
  private func fail(_ text: String) {
    guard failure == nil else { return }
    failure = text
    Self.say(text)
    kill(getpid(), SIGTERM)
  }

  private var reason: String { pulse.pa_strerror(pulse.pa_context_errno(context)).map { String(cString: $0) } ?? "?" }

  /// Of this object, which lives until the process ends.
  private var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private static func process(_ pointer: UnsafeMutableRawPointer?) -> SoundProcess? {
    pointer.map { Unmanaged<SoundProcess>.fromOpaque($0).takeUnretainedValue() }
  }

  private func begin() {
    pulse.pa_context_set_state_callback(
      context, { _, process in SoundProcess.process(process)?.contextChanged() }, pointer)
    let began = pulse.pa_context_connect(context, nil, UInt32(CPULSE_NO_AUTOSPAWN), nil)
    guard began >= 0, pulse.pa_threaded_mainloop_start(loop) >= 0 else { return fail(reason) }
  }

  private func contextChanged() {
    switch Int(pulse.pa_context_get_state(context)) {
    case CPULSE_CONTEXT_READY: load()
    case CPULSE_CONTEXT_FAILED, CPULSE_CONTEXT_TERMINATED: fail(reason)
    default: break
    }
    pulse.pa_threaded_mainloop_signal(loop, 0)
  }

  private func load() {
    isLoading = true
    // Quotes of both kinds, and nothing in the title that would end them.
    let name = title.filter { $0.isASCII && ($0.isLetter || $0.isNumber || " .-_()".contains($0)) }
    let argument = "sink_name=\(sink) rate=48000 channels=2 sink_properties=\"device.description='\(name)'\""
    let operation = pulse.pa_context_load_module(
      context, "module-null-sink", argument, { _, index, process in SoundProcess.process(process)?.loaded(index) },
      pointer)
    if let operation { pulse.pa_operation_unref(operation) } else { loaded(CPULSE_NONE) }
  }

  private func loaded(_ index: UInt32) {
    isLoading = false
    if index == CPULSE_NONE {
      fail("the server has no null sink: \(reason)")
    } else {
      module = index
      record()
    }
    pulse.pa_threaded_mainloop_signal(loop, 0)
  }

  /// Nothing comes while nothing plays: the server suspends the sink, and this stream must not keep it from that. The
  /// flag says so to PulseAudio, the property to PipeWire.
  private func record() {
    guard let properties = pulse.pa_proplist_new() else { return fail("no memory") }
    defer { pulse.pa_proplist_free(properties) }
    _ = pulse.pa_proplist_sets(properties, "node.passive", "true")
    var format = CPulseFormat(format: Int32(CPULSE_S16LE), rate: 48_000, channels: 2)
    var buffer = CPulseBuffer(
      maximum: CPULSE_NONE, target: CPULSE_NONE, before_start: CPULSE_NONE, request: CPULSE_NONE,
      fragment: Self.fragment)
    guard let stream = pulse.pa_stream_new_with_proplist(context, "Car", &format, nil, properties) else {
      return fail(reason)
    }
    self.stream = stream
    pulse.pa_stream_set_state_callback(
      stream, { _, process in SoundProcess.process(process)?.streamChanged() }, pointer)
    pulse.pa_stream_set_read_callback(stream, { _, _, process in SoundProcess.process(process)?.read() }, pointer)
    let flags =
      CPULSE_DONT_MOVE | CPULSE_ADJUST_LATENCY | CPULSE_DONT_INHIBIT_AUTO_SUSPEND
    guard pulse.pa_stream_connect_record(stream, "\(sink).monitor", &buffer, UInt32(flags)) >= 0 else {
      return fail(reason)
    }
    // PipeWire answers only when something plays, since the stream is passive.
    Self.say(Self.ready)
  }

  private func streamChanged() {
    guard let stream else { return }
    switch Int(pulse.pa_stream_get_state(stream)) {
    case CPULSE_STREAM_FAILED, CPULSE_STREAM_TERMINATED: fail("the sink can't be recorded: \(reason)")
    default: break
    }
  }

  private func read() {
    guard let stream else { return }
    var (samples, count): (UnsafeRawPointer?, Int) = (nil, 0)
    while pulse.pa_stream_peek(stream, &samples, &count) >= 0, count > 0 {
      var bytes = UnsafeRawBufferPointer(start: samples, count: samples == nil ? 0 : count)
      while !bytes.isEmpty {
        let part = bytes.prefix(Self.largestWrite)
        _ = write(Self.output, UnsafeRawBufferPointer(rebasing: part).baseAddress, part.count)
        bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(part.count))
      }
      // Without samples it is a hole.
      _ = pulse.pa_stream_drop(stream)
    }
  }

  /// Takes the sink away, and waits for that: programs that still play move to another one.
  private func end() -> Int32 {
    pulse.pa_threaded_mainloop_lock(loop)
    defer { pulse.pa_threaded_mainloop_unlock(loop) }
    while isLoading, isConnected { pulse.pa_threaded_mainloop_wait(loop) }
    guard let module, isConnected else { return failure == nil ? 0 : 1 }
    let operation = pulse.pa_context_unload_module(
      context, module, { _, _, process in SoundProcess.process(process)?.unloaded() }, pointer)
    guard let operation else { return 1 }
    while self.module != nil, isConnected { pulse.pa_threaded_mainloop_wait(loop) }
    pulse.pa_operation_unref(operation)
    return failure == nil ? 0 : 1
  }

  private var isConnected: Bool {
    Int(pulse.pa_context_get_state(context)) == CPULSE_CONTEXT_READY
  }

  private func unloaded() {
    module = nil
    pulse.pa_threaded_mainloop_signal(loop, 0)
  }
}
