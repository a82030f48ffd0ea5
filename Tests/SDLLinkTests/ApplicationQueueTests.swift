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

    private func add(
      _ queue: inout ApplicationQueue, _ function: FunctionID = .addCommand, bulk count: Int = 0
    ) -> Result<Int32, ApplicationRequest.Refusal> {
      do throws(ApplicationRequest.Refusal) {
        return .success(try queue.add(function, [:], bulk: [UInt8](repeating: 0, count: count)))
      } catch {
        return .failure(error)
      }
    }

    /// A hundred requests may wait for their answers, each with an id of its own.
    @Test func unansweredRequests() {
      var queue = ApplicationQueue()
      #expect(add(&queue) == .failure(.notRegistered))
      queue.open()
      for id in 65_536..<65_636 as Range<Int32> { #expect(add(&queue) == .success(id)) }
      #expect(queue.take().map(\.id) == Array(65_536..<65_636) && queue.take().isEmpty)
      #expect(add(&queue) == .failure(.full))
      queue.answered(65_600)
      // Nobody takes a late answer to the former request for that to the next one.
      #expect(add(&queue) == .success(65_636))
      #expect(add(&queue) == .failure(.full))
    }

    /// They have 16 MiB together.
    @Test func largeRequests() {
      var queue = ApplicationQueue()
      queue.open()
      let sizes = [10 << 20, 6 << 20].map { $0 - Self.braces }
      #expect(add(&queue, .putFile, bulk: sizes[0]) == .success(65_536))
      #expect(add(&queue, .putFile, bulk: sizes[1] + 1) == .failure(.full))
      #expect(add(&queue, .putFile, bulk: sizes[1]) == .success(65_537))
      #expect(add(&queue) == .failure(.full))
      queue.answered(65_537)
      #expect(add(&queue) == .success(65_538))
    }

    /// What has not been sent when the connection ends needs an answer from here.
    @Test func closed() {
      var queue = ApplicationQueue()
      queue.open()
      _ = (add(&queue), queue.take(), add(&queue, .show))
      #expect(queue.close().map(\.function) == [.show] && queue.close().isEmpty)
      #expect(add(&queue) == .failure(.notRegistered))
    }

    /// However often the connection ends before they are taken, the next one has room for as many.
    @Test func closedRequestsNeedNoRoom() {
      var queue = ApplicationQueue()
      for _ in 0..<3 {
        queue.open()
        for _ in 0..<50 {
          guard case .success = add(&queue, .putFile, bulk: 200_000) else { Issue.record("no room"); return }
        }
        #expect(queue.close().count == 50)
      }
    }

    /// The session gets what is new, and all of it again when it begins.
    @Test func commandsOfAService() {
      var command = AppConnection.ServiceCommand(0)
      #expect(command.take() == nil)
      command.change { $0 = 5 }
      #expect(command.take() == 5 && command.take() == nil && command.parameters == 5)
      command.renew()
      #expect(command.take() == 5 && command.take() == nil)
    }
  }
}
