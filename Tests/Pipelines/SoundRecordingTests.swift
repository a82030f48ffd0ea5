import Foundation
import Testing

/// `sdl-head-unit --record-audio`.
@Suite struct SoundRecordingTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Half a second, which the head unit has after its end, and whose length is in the header.
  @Test func everySampleIsInTheFile() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record-audio", folder.path("sound.wav"))
    let app = Installation.package.appending(path: "Tests/Pipelines/Programs/speak.py").path
    let result = try Program.run("/usr/bin/python3", app, "\(headUnit.port)", folder.path("sent.raw"), in: folder)
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
}
