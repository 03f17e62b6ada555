"""A model that may be asked through its provider's batch API."""

from collections.abc import Iterator, Mapping

from pydantic import StrictBool

from tui_eval.providers.prices import FREE, BulkPrices, Prices, bulk_prices_of
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.spec.asked.bulk import BulkSpec, bulk_mistakes
from tui_eval.suites.spec.asked.model_endpoint import ModelEndpointSpec


class BulkEndpointSpec(ModelEndpointSpec):
    """An OpenAI-compatible endpoint that is asked live, or in bulk."""

    bulk: StrictBool | BulkSpec = False
    """true, or how: through the provider's batch API, within a day at a lower price. Not in the
    key: what was asked live is found."""

    @property
    def bulk_settings(self) -> BulkSpec | None:
        """How it is asked in bulk; None: it is asked live."""
        if isinstance(self.bulk, BulkSpec):
            return self.bulk
        return BulkSpec() if self.bulk else None

    def in_words(self) -> str:
        """Return its model, its endpoint, and whether it is asked in bulk."""
        return super().in_words() + ("" if self.bulk_settings is None else ", in bulk")

    def bulk_prices(self) -> BulkPrices | None:
        """Return what its tokens cost in bulk; None: not even single calls have a known price."""
        own = self.token_prices() if self.prices is not None else None
        return bulk_prices_of(self.provider, self.base_url, self.model, own)

    def expected_prices(self) -> Prices | None:
        """Return what its tokens cost in bulk, where it is asked so, else in single calls."""
        if self.bulk_settings is None:
            return self.token_prices()
        found = self.bulk_prices()
        return None if found is None else found.prices

    def bound_problem(self) -> str | None:
        """Say that a cap cannot hold before requests are sent in bulk: answers have no limit."""
        free = self.token_prices() == FREE
        if self.bulk_settings is None or free or self.output_limit() is not None:
            return None
        return (
            "a cap holds before requests are sent in bulk, and nobody knows how long answers are: "
            "give it params = { max_tokens = … }, or drop the cap or bulk"
        )

    @classmethod
    def asked_in_bulk(cls, table: Mapping[str, object]) -> bool:
        """Say whether `bulk` is set."""
        return bool(table.get("bulk"))

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield what is wrong with its endpoint, and with how it is asked in bulk."""
        yield from super().written_mistakes(table)
        yield from bulk_mistakes(table)
