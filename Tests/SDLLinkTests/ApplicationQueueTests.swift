import SDLMessages
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  @Suite struct ApplicationQueueTests {
    private static let limit = ApplicationRequest.maximumBytesOnTheWay
    /// The size of no parameters.
    private static let braces = 2

    /// The refusal of a request; nil if it is accepted.
    private func refusal(
      _ function: FunctionID, _ parameters: JSONObject = [:], bulk count: Int
    ) -> ApplicationRequest.Refusal? {
      var queue = ApplicationQueue()
      queue.open()
      do throws(ApplicationRequest.Refusal) {
        _ = try queue.add(function, parameters, bulk: [UInt8](repeating: 0, count: count))
        return nil
      } catch {
        return error
      }
    }

    /// What is accepted must fit into the buffer of control frames, whose overflow ends the connection.
    @Test func largestRequest() {
      #expect(Self.limit <= ControlFrameBuffer.maximumByteCount / 2)
      #expect(refusal(.systemRequest, bulk: Self.limit - Self.braces) == nil)
      #expect(refusal(.systemRequest, bulk: Self.limit - 1) == .tooLarge(Self.limit + 1))
    }

    /// A file is sent in parts, but each has all of the parameters.
    @Test func largestFile() {
      #expect(refusal(.putFile, bulk: 5 << 20) == nil)
      #expect(refusal(.putFile, bulk: 17 << 20) == .full)
      let text = JSONValue.string(String(repeating: "x", count: Self.limit))
      #expect(refusal(.putFile, ["syncFileName": text], bulk: 1) != nil)
    }
  }
}
