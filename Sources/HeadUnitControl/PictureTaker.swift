import Glibc
import H264
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink

/// Looks at what the apps show: keeps the video since each app's last key frame, and has GStreamer's tools decode it.
package final class PictureTaker: Sendable {
  private struct State: Sendable {
    var groups: [UInt8: PictureGroup] = [:]
    /// The number of the last access unit of all apps.
    var unitCount = 0
    /// The app whose picture came last.
    var latest: UInt8?
    var waiting: [Work] = []
    var isWorking = false
    var isOver = false
  }

  private enum Work: Sendable {
    case test(HeadUnitScriptRun.Picture)
    /// Of the picture that was shown last when it was asked for; nil if there was none.
    case image(PictureGroup?, @Sendable (Result<[UInt8], Failure>) -> Void)
  }

  package struct Failure: Error {
    package let text: String
    /// Whether another picture may be the right one.
    var mayPass = false
  }

  /// An 8-bit picture in I420, with rows as GStreamer lays them out.
  private struct Picture {
    let width: Int
    let height: Int
    let bytes: [UInt8]

    private static func aligned(_ count: Int) -> Int { (count + 3) & ~3 }

    static func byteCount(_ width: Int, _ height: Int) -> Int {
      aligned(width) * ((height + 1) & ~1) + 2 * aligned((width + 1) / 2) * ((height + 1) / 2)
    }

    /// The peak signal-to-noise ratio of all samples, in decibels; infinite for equal ones.
    func psnr(_ other: [UInt8]) -> Double {
      let sum = zip(bytes, other).reduce(0) { sum, samples in
        let difference = Int(samples.0) - Int(samples.1)
        return sum + difference * difference
      }
      guard sum > 0 else { return .infinity }
      return 10 * log10(255 * 255 * Double(bytes.count) / Double(sum))
    }
  }

  private static let decodingTime = Duration.seconds(30)
  private static let retryPause = Duration.milliseconds(300)
  private static let tools =
    "gstreamer1.0-tools, gstreamer1.0-plugins-good, gstreamer1.0-plugins-bad and gstreamer1.0-libav"

  /// One colorimetry for all, since that of a file without any depends on its size.
  private static let caps = "video/x-raw,format=I420,colorimetry=bt601"

  private let state = Monitor(State())

  package init() {}

  /// Begins to look at pictures.
  /// - Parameter server: whose tests ask for pictures; nil if none do.
  package func start(_ server: HeadUnitServer?) throws(LinkError) {
    try WorkerThread.detach(name: "pictures") { [weak server] in
      while let work = self.next() {
        switch work {
        case .test(let picture):
          let failure = self.failure(of: picture)
          server?.end(picture, failure: failure)
        case .image(let group, let body): body(Result { () throws(Failure) in try self.image(of: group) })
        }
        self.state.change { $0.isWorking = false }
      }
    }
  }

  /// Waits until all pictures have been looked at that were asked for.
  package func waitForAll() {
    state.wait { $0.isOver || $0.waiting.isEmpty && !$0.isWorking }
  }

  /// Pictures that are waited for are not looked at any more.
  package func finish() {
    // Released without the lock.
    let waiting = state.change { state in
      state.isOver = true
      defer { state.waiting = [] }
      return state.waiting
    }
    _ = consume waiting
  }

  package func note(_ event: HeadUnitSession.Event, of id: UInt8) {
    switch event {
    case .videoData(let message):
      state.withLock { state in
        state.latest = id
        state.groups[id, default: PictureGroup()].append(message, countingOn: &state.unitCount)
      }
    case .videoStopped: state.withLock { $0.groups[id] = nil }
    default: break
    }
  }

  package func take(_ picture: HeadUnitScriptRun.Picture) {
    state.change { $0.waiting.append(.test(picture)) }
  }

  /// Gives `body` the picture that was shown last, as PNG, on another thread.
  package func takeImage(_ body: @escaping @Sendable (Result<[UInt8], Failure>) -> Void) {
    state.change { $0.waiting.append(.image(Self.group(of: nil, $0), body)) }
  }

  private func next() -> Work? {
    state.wait { $0.isOver || !$0.waiting.isEmpty }
    return state.withLock { state in
      guard !state.isOver else { return nil }
      state.isWorking = true
      return state.waiting.removeFirst()
    }
  }

  /// Why the task has failed; nil if it has not.
  private func failure(of picture: HeadUnitScriptRun.Picture) -> String? {
    let deadline = MonotonicClock.now + picture.task.time
    while true {
      do throws(Failure) {
        try perform(picture)
        return nil
      } catch {
        let isOver = state.withLock { $0.isOver }
        if isOver || !error.mayPass || MonotonicClock.now >= deadline { return error.text }
      }
      // Another picture may come.
      state.wait(atLatest: min(MonotonicClock.now + Self.retryPause, deadline)) { $0.isOver }
    }
  }

  private func perform(_ picture: HeadUnitScriptRun.Picture) throws(Failure) {
    guard let minimum = picture.task.minimumPSNR else {
      return try Self.write(try image(of: group(of: picture.app)), to: picture.task.file)
    }
    let folder = try Folder()
    let shown = try decode(group(of: picture.app), in: folder)
    guard access(picture.task.file, R_OK) == 0 else { throw Failure(text: "\(picture.task.file) can't be read") }
    // The name may have characters that mean something in a pipeline.
    try Self.copy(picture.task.file, to: folder.path("expected"))
    try Self.run(
      "filesrc location=\(folder.path("expected")) ! decodebin ! videoconvert ! \(Self.caps) ! "
        + "multifilesink location=\(folder.path("raw"))")
    let expected = try Self.bytes(of: folder.path("raw"))
    guard expected.count == shown.bytes.count else {
      throw Failure(
        text: "the app shows \(shown.width)×\(shown.height) pixels, and the picture has another size", mayPass: true)
    }
    let ratio = shown.psnr(expected)
    guard ratio >= minimum else {
      throw Failure(text: "the PSNR is \((ratio * 10).rounded() / 10) dB, less than \(minimum)", mayPass: true)
    }
  }

  /// As PNG.
  private func image(of group: PictureGroup?) throws(Failure) -> [UInt8] {
    let folder = try Folder()
    let shown = try decode(group, in: folder)
    let raw = "rawvideoparse width=\(shown.width) height=\(shown.height) format=i420"
    try Self.run(
      "filesrc location=\(folder.path("shown")) ! \(raw) ! videoconvert ! pngenc ! filesink location=\(folder.path("png"))"
    )
    return try Self.bytes(of: folder.path("png"))
  }

  private func group(of app: UInt8?) -> PictureGroup? { state.withLock { Self.group(of: app, $0) } }

  /// Of the app, or of the one whose picture came last, with all that has come.
  private static func group(of app: UInt8?, _ state: State) -> PictureGroup? {
    guard let app = app ?? state.latest, var group = state.groups[app] else { return nil }
    var number = state.unitCount
    group.flush(countingOn: &number)
    return group
  }

  /// Pictures of the app whose picture came last, for who has got those before.
  /// - Parameters:
  ///   - position: the app and the number of the last one that was got. From another app, or from before the last key
  ///     frame, it goes on with that key frame.
  ///   - byteCount: after so many bytes no further one is added.
  func units(
    after position: (app: UInt8, number: Int)?, atMost byteCount: Int
  ) -> (app: UInt8, units: ArraySlice<PictureGroup.Unit>)? {
    state.withLock { state in
      guard let app = state.latest else { return nil }
      // The only picture so far.
      if state.groups[app]?.isEmpty == true { state.groups[app]?.flush(countingOn: &state.unitCount) }
      let number = position.flatMap { $0.app == app ? $0.number : nil } ?? 0
      return state.groups[app].map { (app, $0.units(after: number, atMost: byteCount)) }
    }
  }

  private func decode(_ group: PictureGroup?, in folder: borrowing Folder) throws(Failure) -> Picture {
    guard let units = group?.decodable, let (width, height) = units.last?.size else {
      throw Failure(text: "no app shows a picture that can be decoded", mayPass: true)
    }
    try Self.write(units.flatMap(\.bytes), to: folder.path("h264"))
    // The last picture stays.
    try Self.run(
      "filesrc location=\(folder.path("h264")) ! h264parse ! decodebin ! videoconvert ! \(Self.caps) ! "
        + "multifilesink location=\(folder.path("shown"))")
    let bytes = try Self.bytes(of: folder.path("shown"))
    guard bytes.count == Picture.byteCount(width, height) else {
      throw Failure(
        text: "the decoded picture does not have the \(width)×\(height) pixels of its parameter set",
        mayPass: true)
    }
    return Picture(width: width, height: height, bytes: bytes)
  }
}

// MARK: GStreamer's tools, and files

extension PictureTaker {
  /// A private folder, which is removed with its files.
  private struct Folder: ~Copyable {
    private let name: String

    init() throws(Failure) {
      var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/sdl-head-unit-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw Failure(text: "no folder can be made for pictures") }
      name = String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    func path(_ file: String) -> String { "\(name)/\(file)" }

    deinit {
      for file in ["h264", "shown", "png", "expected", "raw"] { unlink(path(file)) }
      rmdir(name)
    }
  }

  private static func run(_ pipeline: String) throws(Failure) {
    let output = Monitor<[String]>([])
    let program: ChildProgram
    do throws(LinkError) {
      let words = pipeline.split(separator: " ").map(String.init)
      program = try ChildProgram(
        ["gst-launch-1.0", "-q"] + words, environment: [:], output: { line in output.withLock { $0.append(line) } },
        ended: { _ in })
    } catch {
      throw Failure(text: "pictures need GStreamer's tools: install \(tools) (\(error))")
    }
    let status = program.wait(until: MonotonicClock.now + decodingTime)
    program.end()
    guard status == .exited(0) else {
      let lines = output.withLock { $0 }
      let reason = lines.first { $0.contains("ERROR") } ?? lines.first ?? "no answer"
      throw Failure(text: "the picture can't be decoded: \(reason); it takes \(tools)")
    }
  }

  private static func bytes(of path: String) throws(Failure) -> [UInt8] {
    guard let file = fopen(path, "re") else { throw Failure(text: "nothing was decoded") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  package static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    let file = fopen(path, "we")
    let isWritten = file.map { fwrite(bytes, 1, bytes.count, $0) == bytes.count } ?? false
    guard let file, fclose(file) == 0, isWritten else { throw Failure(text: "\(path) can't be written") }
  }

  private static func copy(_ path: String, to other: String) throws(Failure) {
    try write(try bytes(of: path), to: other)
  }
}
