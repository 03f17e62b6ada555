"""Conversations: attempts that make several calls.

A conversation is the turns of a prompt, tools that are answered, and a simulated user. What is
asked of it as a whole is part of the request, under `CONVERSATION`, and so of the generation key.

- Each call goes through the attempt's `CallLog` (`call_log.py`), with all that it is asked. The
  engine's (`engine/journey/conversation_calls.py`) knows the replies that the trial's present
  opening has already, by their place and a digest of what was asked: such a call is not made. Any
  other waits for its start, is made, and is committed with what it took before the log returns.
  So a kill, a passing fault or a pause costs at most the call that was in flight, and what a call
  took is counted as it comes, whatever becomes of the conversation.
- `dialogue.py` is the loop: reply, tools, the user's next turn. It knows neither wire nor store.
- `tool_answers.py`, `tool_program.py` and `simulated_user.py` give what is said between replies.
  A program that answers tools is started anew with each attempt and told the earlier calls again;
  where it answers otherwise, what follows is asked otherwise, and so asked again.

A person's retry forgets the replies (`trial_verbs.retry`), an output that is written needs them
no more; until then, also after an error or a cancellation, they show how far the trial came.
"""
