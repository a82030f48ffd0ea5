import Foundation
import Testing

/// `python/sdlheadunit`, with Debian's own Python.
@Suite struct PythonPackageTests {
  private static let python = Installation.package.appending(path: "python")
  private static let app = Installation.package.appending(path: "Tests/Pipelines/Programs/show.py").path

  private func run(_ arguments: String..., in folder: TemporaryFolder) throws -> Program.Result {
    let environment = [
      "PYTHONPATH": Self.python.path, "SDL_HEAD_UNIT": Installation.headUnitTool.path, "SHOW_APP": Self.app,
      "PYTHONDONTWRITEBYTECODE": "1",
    ]
    return try Program(
      ["sh", "-c", "cd \"$0\" && exec /usr/bin/python3 \"$@\"", folder.url.path] + arguments, in: folder,
      environment: environment
    )
    .wait()
  }

  @Test func itsOwnTests() throws {
    let tests = Self.python.appending(path: "tests/test_head_unit.py").path
    let result = try run(tests, in: TemporaryFolder())
    #expect(result.status == 0 && result.errors.contains("Ran 9 tests"), "\(result)")
  }

  /// The example in docs/testing-without-a-car.md, with an app of that name.
  @Test func documentation() throws {
    let page = try String(
      contentsOf: Installation.package.appending(path: "docs/testing-without-a-car.md"), encoding: .utf8)
    let example = try #require(page.firstMatch(of: /(?s)<!-- python example -->\n(.+?)<!-- end -->/)?.1)
    let folder = try TemporaryFolder()
    let text = example.split(separator: "\n", omittingEmptySubsequences: false).map { $0.dropFirst(4) }.joined(
      separator: "\n")
    try Data(text.utf8).write(to: folder.url.appending(path: "example.py"))
    let app = """
      import os, sys
      os.execv(sys.executable, [sys.executable, os.environ["SHOW_APP"], "stays", "Hello"])
      """
    try Data(app.utf8).write(to: folder.url.appending(path: "hello.py"))
    let result = try run("example.py", in: folder)
    #expect(result.status == 0, "\(result)")
  }

  /// A test that fails shows the head unit's log, one that passes does not.
  @Test func pytest() throws {
    let folder = try TemporaryFolder()
    let tests = """
      import os, sys
      import pytest
      APP = [sys.executable, os.environ["SHOW_APP"], "stays"]

      @pytest.mark.head_unit("--preset", "core", app=APP)
      def test_that_passes(head_unit):
          head_unit.expect_app("Map").expect("Show")

      @pytest.mark.head_unit(app=APP)
      def test_that_fails(head_unit):
          head_unit.expect_app("Radio", within=1)
      """
    try Data(tests.utf8).write(to: folder.url.appending(path: "test_app.py"))
    let result = try run("-m", "pytest", "-p", "sdlheadunit.pytest_plugin", "-q", "test_app.py", in: folder)
    #expect(result.status == 1 && result.output.contains("1 failed, 1 passed"), "\(result)")
    #expect(
      result.output.contains("the head unit's log") && result.output.contains(#""function": "RegisterAppInterface""#))
    #expect(result.output.contains("registered came once: name was 'Map'"))
  }
}
