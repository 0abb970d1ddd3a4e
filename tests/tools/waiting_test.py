"""Waiting for conditions."""

import asyncio
import itertools
import time
import unittest

from dev.waiting import delay_until, wait_until, wait_until_async


class Waiting(unittest.TestCase):
    def test_a_condition_is_looked_at_until_it_holds(self) -> None:
        looks = [True, False, False]
        wait_until(looks.pop, time.monotonic() + 10, "the last look", every=0.001)

        self.assertEqual(looks, [])

    def test_the_first_true_answer_is_given_back(self) -> None:
        looks = iter([None, "", "the mail"])
        answer = wait_until(
            lambda: next(looks), time.monotonic() + 10, "the last look", every=0.001
        )

        self.assertEqual(answer, "the mail")

    def test_a_condition_that_holds_needs_no_time(self) -> None:
        wait_until(lambda: True, time.monotonic() - 1, "what is there")

    def test_past_the_deadline_what_did_not_come_is_named(self) -> None:
        with self.assertRaisesRegex(TimeoutError, "the mail"):
            wait_until(lambda: False, time.monotonic() - 1, "the mail")

    def test_past_the_deadline_the_last_answer_is_shown(self) -> None:
        with self.assertRaisesRegex(TimeoutError, "two mails; last seen: \\[\\]"):
            wait_until(list, time.monotonic() - 1, "two mails")

    def test_a_coroutine_leaves_the_loop_to_others_while_it_waits(self) -> None:
        async def both() -> int:
            count = itertools.count()
            is_over = asyncio.Event()

            async def end() -> None:
                is_over.set()

            ending = asyncio.create_task(end())
            await wait_until_async(is_over.is_set, time.monotonic() + 10, "the end", every=0.001)
            await ending
            with self.assertRaisesRegex(TimeoutError, "the mail"):
                await wait_until_async(lambda: None, time.monotonic() - 1, "the mail")
            return await wait_until_async(lambda: next(count), time.monotonic() + 10, "one", 0.001)

        self.assertEqual(asyncio.run(both()), 1)

    def test_a_moment_that_is_over_needs_no_time(self) -> None:
        began = time.monotonic()
        delay_until(began - 60)

        self.assertLess(time.monotonic() - began, 10)


if __name__ == "__main__":
    unittest.main()
