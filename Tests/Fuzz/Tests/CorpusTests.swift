import Foundation
import FuzzTargets
import Testing

/// What a fuzzer has found worth keeping, without the fuzzer: `make fuzz` looks for more.
@Suite struct CorpusTests {
  private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Corpus")

  @Test(arguments: FuzzTarget.all.map(\.name))
  func everyInput(name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let lines = try String(contentsOf: Self.corpus.appending(path: name + ".txt"), encoding: .utf8)
      .split(separator: "\n")
    #expect(!lines.isEmpty)
    for line in lines { target.run([UInt8](try #require(Data(base64Encoded: String(line))))) }
  }
}
