"""Record a chain of LangChain.

    python examples/recorders/with_langchain.py quay.jsonl

Needs langchain-openai and OPENAI_API_KEY; OPENAI_BASE_URL names another endpoint, OPENAI_MODEL
another model.
"""

import os
import sys

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_openai import ChatOpenAI

import veritrail_record as vr
from veritrail_record.langchain import RecordingHandler

PAGES = [
    Document("The quay of Solvik was opened in 1901, on a Sunday in May.", metadata={"page": 1}),
    Document("The crane on the quay was built in Hull. It lifts forty tons.", metadata={"page": 2}),
]
QUESTION = "When was the quay opened?"

search = RunnableLambda(lambda question: PAGES)  # a retriever, in a real program
prompt = ChatPromptTemplate.from_template("Pages: {pages}\n\nQuestion: {question}")
model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-6-luna"))
chain = {"pages": search, "question": RunnablePassthrough()} | prompt | model

with vr.record("Quay", question=QUESTION, path=sys.argv[1]) as run:
    reply = chain.invoke(QUESTION, config={"callbacks": [RecordingHandler()]})
    run.answer(reply.content)
