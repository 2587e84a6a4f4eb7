"""A server that answers as vLLM 0.32 does over HTTP (``tests/data/vllm.json``), with a small model inside."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MOST = 128  # token ids that a question may name
FINE = 200


class Fake(ThreadingHTTPServer):
    """``network`` and ``tokenizer`` may be swapped while it runs; ``asked`` has what it was asked.

    ``faults`` are functions that each change one answer to a question, (status, content) to the same.
    """

    daemon_threads = True

    def __init__(self, network, tokenizer, name):
        super().__init__(("127.0.0.1", 0), Handler)
        self.network, self.tokenizer, self.name = network, tokenizer, name
        self.faults, self.asked, self.lock = [], [], threading.Lock()
        self.version, self.window, self.lacks, self.key, self.off = "0.32.0", 512, set(), None, 0.0
        self.address = f"http://127.0.0.1:{self.server_address[1]}"

    def logprobs(self, ids):
        import torch

        with self.lock, torch.inference_mode():
            logits = self.network(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
            return logits.double().log_softmax(-1)

    def answer(self, path, body):
        if path in self.lacks:
            return 404, {"detail": "Not Found"}
        if path == "/version":
            return FINE, {"version": self.version}
        if path == "/v1/models":
            card = {
                "id": self.name,
                "object": "model",
                "created": 1,
                "owned_by": "vllm",
                "root": self.name,
            }
            card |= {"parent": None, "max_model_len": self.window, "permission": [{}]}
            return FINE, {"object": "list", "data": [card]}
        if path == "/tokenize":
            ids = self.tokenizer(body["prompt"], add_special_tokens=False)["input_ids"]
            return FINE, {
                "count": len(ids),
                "max_model_len": self.window,
                "tokens": ids,
                "token_strs": None,
            }
        return self.completion(body)

    def completion(self, body):
        ids = body["prompt"]
        if isinstance(ids, str):
            ids = self.tokenizer(ids, add_special_tokens=False)["input_ids"]
        named = None if "names" in self.lacks else body.get("logprob_token_ids")
        if len(named or ()) > MOST or len(ids) + body["max_tokens"] > self.window:
            said = {"message": "greater than max allowed: 128", "type": "BadRequestError"}
            return 400, {"error": said | {"param": "logprob_token_ids", "code": 400}}
        rows = self.logprobs(ids)
        new = int(rows[-1].argmax())
        tokens, values, tops = (
            [new],
            [rows[-1, new].item()],
            [self.top(rows[-1], new, named, body["logprobs"])],
        )
        if body.get("echo") and "echo" not in self.lacks:
            own = [rows[n, i].item() for n, i in enumerate(ids[1:])]
            pairs = zip(ids[1:], rows, strict=False)
            shown = [None, *(self.top(row, i, None, body["logprobs"]) for i, row in pairs)]
            tokens, values, tops = [*ids, *tokens], [None, *own, *values], [*shown, *tops]
        said = {"text_offset": [0] * len(tokens), "token_logprobs": values}
        said |= {"tokens": [f"token_id:{i}" for i in tokens], "top_logprobs": tops}
        choice = {"index": 0, "text": "", "logprobs": said, "finish_reason": "length"}
        return FINE, {
            "id": "cmpl-1",
            "object": "text_completion",
            "created": 1,
            "model": self.name,
            "choices": [choice],
            "usage": {"prompt_tokens": len(ids), "total_tokens": len(ids) + 1},
        }

    def top(self, row, own, named, k):
        ids = named if named is not None else [own, *row.topk(k).indices.tolist()]
        moved = self.off * (len(self.asked) % 2)
        return {f"token_id:{i}": row[i].item() - moved for i in ids}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        server = self.server
        server.asked.append((self.path, body))
        if server.key and self.headers.get("Authorization") != f"Bearer {server.key}":
            found = 401, {"error": f"not {self.headers.get('Authorization')}"}
        else:
            found = server.answer(self.path, body)
        if self.path == "/v1/completions" and server.faults:
            found = server.faults.pop(0)(*found)
        if found is None:  # the line is cut
            return
        content = json.dumps(found[1]).encode()
        self.send_response(found[0])
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(network, tokenizer, name):
    """A server that runs until the end of the block."""
    server = Fake(network, tokenizer, name)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
