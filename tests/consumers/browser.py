"""browser.py - controls a headless Chromium by Chrome's DevTools protocol over two pipes, without other libraries."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Failure(Exception):
    """The browser or a page reported an error, or did not answer in time."""


class Browser:
    """A browser with one page, for use in a with statement."""

    def __init__(self, program):
        self.directory = tempfile.mkdtemp()  # settings and caches of the browser
        theirs, self.requests = os.pipe()
        self.answers, ours = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
                   "--no-first-run", "--disable-background-networking", f"--user-data-dir={self.directory}", "about:blank"]
        move = f'exec "$@" 3<&{theirs} 4>&{ours}'  # Chromium reads requests from descriptor 3, and writes answers to 4
        self.process = subprocess.Popen(["bash", "-c", move, program, program, *options], pass_fds=(theirs, ours),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(ours)
        self.number, self.session, self.text, self.thrown = 0, None, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def message(self, seconds):
        while b"\0" not in self.text:
            if not select.select([self.answers], [], [], seconds)[0]:
                raise Failure(f"no answer within {seconds} s")
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise Failure("Chromium ended")
            self.text += part
        message, self.text = self.text.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, seconds=60, **parameters):
        """Returns the result of a command of the protocol; appends exceptions thrown by pages meanwhile to `thrown`."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message(seconds)
            if answer.get("method") == "Runtime.exceptionThrown":
                self.thrown.append(describe(answer["params"]["exceptionDetails"]))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def run(self, script):
        """Returns the value of an expression in the page; if it is a promise, awaits it."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise Failure(describe(result["exceptionDetails"]))
        return result["result"].get("value")

    def open(self, address, ready, seconds=60):
        """Opens a page and waits until the expression `ready` is true in the page."""
        self.thrown.clear()
        self.call("Page.navigate", url=address)
        self.wait(ready, seconds)

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not self.run(f"(() => {{ try {{ return !!({condition}); }} catch {{ return false; }} }})()"):
            if time.monotonic() > end:
                raise Failure(f"not within {seconds} s: {condition}; {'; '.join(self.thrown) or 'nothing was thrown'}")
            time.sleep(0.1)


def describe(details):
    return str(details.get("exception", {}).get("description", details.get("text")))[:1000]
