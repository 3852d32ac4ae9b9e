"""A buyer asks for a price; where it is right, the shipper delivers and says when."""

from enum import Enum

from distml.choreo import At, Ch3, Channel, Role


class Buyer(Role): ...


class Seller(Role): ...


class Shipper(Role): ...


class Answer(Enum):
    BUY = "buy"
    LEAVE = "leave"


class Order(Enum):
    SHIP = "ship"
    NOTHING = "nothing"


class Purchase(Ch3[Buyer, Seller, Shipper]):
    def __init__(
        self,
        buyer_seller: Channel[object, Buyer, Seller],
        seller_shipper: Channel[object, Seller, Shipper],
        shipper_buyer: Channel[object, Shipper, Buyer],
    ) -> None:
        self.buyer_seller = buyer_seller
        self.seller_shipper = seller_shipper
        self.shipper_buyer = shipper_buyer

    def run(
        self,
        title: At[str, Buyer],
        budget: At[int, Buyer],
        catalogue: At[dict[str, int], Seller],
        days: At[dict[str, str], Shipper],
    ) -> At[str | None, Buyer]:
        wanted: At[str, Seller] = self.buyer_seller.com(title)
        price: At[int, Buyer] = self.buyer_seller.com(catalogue[wanted])
        if price <= budget:
            self.buyer_seller.select(Answer.BUY @ Buyer())
            self.seller_shipper.select(Order.SHIP @ Seller())
            parcel: At[str, Shipper] = self.seller_shipper.com(wanted)
            return self.shipper_buyer.com(days[parcel])
        else:
            self.buyer_seller.select(Answer.LEAVE @ Buyer())
            self.seller_shipper.select(Order.NOTHING @ Seller())
            return None
