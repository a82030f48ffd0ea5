import Foundation
import Testing

/// What head units do with sound: `sdl-head-unit --record-audio`, and `sdlheadunitaudiosrc`.
@Suite struct SoundRecordingTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Half a second, which the head unit has after its end, and whose length is in the header; one utterance after the
  /// other.
  @Test(arguments: [1, 2]) func everySampleIsInTheFile(utterances: Int) throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record-audio", folder.path("sound.wav"))
    let app = Installation.package.appending(path: "Tests/Pipelines/Programs/speak.py").path
    let result = try Program.run(
      "/usr/bin/python3", app, "\(headUnit.port)", folder.path("sent.raw"), "\(utterances)", in: folder)
    #expect(result.status == 0, "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0 && summary.output.contains("violations=0"), "\(summary)")
    let sent = try Data(contentsOf: folder.url.appending(path: "sent.raw"))
    #expect(try Data(contentsOf: folder.url.appending(path: "sound.wav")).dropFirst(44) == sent && sent.count == 16_000)
    let parsed = try folder.launch(
      """
      filesrc location=\(folder.path("sound.wav")) ! wavparse ! audio/x-raw,rate=16000,channels=1,format=S16LE \
      ! filesink location=\(folder.path("parsed.raw"))
      """)
    #expect(parsed.status == 0, "\(parsed)")
    #expect(try Data(contentsOf: folder.url.appending(path: "parsed.raw")) == sent)
  }

  /// The head unit serves its apps, and ends, although nothing reads what it records; the pipe holds a quarter of it, with pages of
  /// 4096 bytes.
  @Test func recordingThatIsNotRead() throws {
    let path = folder.path("sound.fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    // F_SETPIPE_SZ of Linux, which gives a page at least.
    try #require(fcntl(reader, 1031, 4096 as Int32) >= 4096)
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record-audio", path)
    let app = Installation.package.appending(path: "Tests/Pipelines/Programs/speak.py").path
    let result = try Program.run("/usr/bin/python3", app, "\(headUnit.port)", folder.path("sent.raw"), in: folder)
    #expect(result.status == 0, "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0 && summary.output.contains("audio stopped: by the app, 8000 samples"), "\(summary)")
  }

  /// As it was sent, with silence before and after it.
  @Test func everySampleComesOutOfTheElement() throws {
    let path = folder.path("element.wav")
    let pipeline =
      "gst-launch-1.0 sdlheadunitaudiosrc port=0 eos-on-disconnect=true ! wavenc ! filesink location=\(path)"
    let headUnit = try Program(pipeline.split(separator: " ").map(String.init), in: folder)
    let port = try headUnit.waitForOutput { $0.firstMatch(of: /apps on 127.0.0.1:([0-9]+)/).map { String($0.1) } }
    try headUnit.waitForOutput { $0.contains("New clock") ? true : nil }
    let app = Installation.package.appending(path: "Tests/Pipelines/Programs/speak.py").path
    let result = try Program.run("/usr/bin/python3", app, port, folder.path("sent.raw"), in: folder)
    #expect(result.status == 0, "\(result)")
    #expect(headUnit.wait().status == 0)
    let sent = try Data(contentsOf: folder.url.appending(path: "sent.raw"))
    let heard = try Data(contentsOf: folder.url.appending(path: "element.wav")).dropFirst(44)
    let range = try #require(heard.range(of: sent))
    #expect(sent.count == 16_000 && heard[..<range.lowerBound].allSatisfy { $0 == 0 })
    #expect(heard[range.upperBound...].allSatisfy { $0 == 0 })
  }
}
