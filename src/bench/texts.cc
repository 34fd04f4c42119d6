#include "bench/texts.h"

#include <fstream>

#include "base/utf8.h"

namespace gimbal::bench {
namespace {

// Everyday English of 3 to 54 words, because the time of a text model hangs on length.
constexpr std::string_view kSentences[] = {
    "Rain is likely.",
    "Doors open early.",
    "She waved back.",
    "Keep it simple.",
    "Nobody answered him.",
    "Bring warm gloves.",
    "Prices fell again.",
    "Try another key.",
    "Mind the step.",
    "Trains run hourly.",
    "The kettle has boiled.",
    "Who moved my chair?",
    "Please sign both copies.",
    "Their dog chases squirrels.",
    "Lunch starts at noon.",
    "A cold wind blew.",
    "This road is closed.",
    "We planted two pears.",
    "Paint dries slowly here.",
    "Call me after work.",
    "The match ended in silence.",
    "Fresh bread smells of home.",
    "His letter came too late.",
    "Can you read this label?",
    "Old clocks need gentle care.",
    "The ferry leaves at dawn.",
    "Most visitors arrive by bus.",
    "Her answer surprised the jury.",
    "Salt lowers the freezing point.",
    "Turn left after the bridge.",
    "The new neighbours grow tall sunflowers.",
    "He forgot where he parked it.",
    "Students gathered outside the main library.",
    "A good map saves much walking.",
    "The river rose overnight without warning.",
    "Check the oil before you leave.",
    "Small boats shelter behind the pier.",
    "My aunt collects stamps from islands.",
    "The museum is free on Sundays.",
    "Every summer the swallows come back.",
    "The committee will vote on it tomorrow.",
    "I have never tasted better plum cake.",
    "A fox crossed the garden at midnight.",
    "The battery lasts about nine hours indoors.",
    "Children under six travel without a ticket.",
    "Nothing in the shed was worth keeping.",
    "The recipe asks for two ripe lemons.",
    "He tuned the piano twice that spring.",
    "Our flight was moved to gate twelve.",
    "The lighthouse keeper retired in the autumn.",
    "Heavy trucks may not use the old bridge.",
    "She learned to sail on a mountain lake.",
    "The printer ran out of paper once more.",
    "Coffee from that valley tastes of ripe cherries.",
    "Do not store the cleaner near the stove.",
    "The orchestra rehearses on Tuesday and Friday evenings.",
    "A loose cable had stopped the whole machine.",
    "Her grandfather built the cabin with borrowed tools.",
    "Tickets bought online can be returned within a week.",
    "The baker gives away what is left after six.",
    "We watched the eclipse through a sheet of welding glass.",
    "The engine started on the third try and then died.",
    "Most of the village still buys its milk from him.",
    "How long does it take to walk around the island?",
    "The judge asked both sides to speak a little slower.",
    "A thin layer of ice covered the bucket this morning.",
    "The second edition corrects more than four hundred small errors.",
    "Remember to water the tomatoes while we are in the mountains.",
    "The train was crowded, but everyone found a place to stand.",
    "Her first novel sold only three hundred copies in ten years.",
    "A team of divers found the anchor close to the northern reef.",
    "The school bought forty used laptops and repaired them over the summer.",
    "If the alarm rings twice, leave by the nearest door without running.",
    "He writes the name of each bird he sees in a green notebook.",
    "The city council has promised new trees along the whole of Mill Street.",
    "You can exchange the jacket for a larger size if you keep the receipt.",
    "The surgeon explained the risks calmly and answered every question of the family.",
    "After the storm the beach was covered with driftwood, bottles and tangled fishing nets.",
    "The bridge was designed for carts and now carries eleven thousand cars a day.",
    "Her team measured the glacier each August and found it shorter every single time.",
    "The soup needs to simmer for an hour before you add the beans and parsley.",
    "A retired engineer restored the steam pump that once kept the whole mine from flooding.",
    "The bank blocked my card because I paid for petrol in two countries on one day.",
    "They moved the festival to September so that it no longer clashes with the harvest.",
    "The app shows the next three buses, but it is often wrong when it snows.",
    "Nurses on the night shift asked for brighter lamps and a warmer place to rest.",
    "The carpenter measured the window twice, cut the frame once, and still had to plane it.",
    "Our office plants died during the holidays because each of us thought another would water "
    "them.",
    "The documentary follows four brothers who rebuilt their village school after the earthquake "
    "of 1999.",
    "Scientists dropped small buoys from an aeroplane to learn how the current bends around the "
    "cape.",
    "He answered the journalist politely, gave no names, and went back to repairing his nets.",
    "The museum bought the painting cheaply, since nobody then believed that it was an original.",
    "If you heat the glass too fast it cracks, and all the work was for nothing.",
    "A single wrong digit in the order meant that two hundred chairs went to another town.",
    "The new timetable gives the villages one more bus in the morning and takes two in the "
    "evening.",
    "She trained for the marathon in the dark before work, along a canal where nobody else was "
    "running.",
    "The law allows tenants to keep a small dog unless the contract names a good reason against "
    "it.",
    "The first version of the program crashed whenever somebody typed a name with an apostrophe in "
    "it.",
    "We drove through the night, taking turns at the wheel, and reached the coast just before "
    "sunrise.",
    "The farmer rotates barley, clover and potatoes so that the soil has a chance to recover each "
    "third year.",
    "The report says that most accidents in the plant happen in the last hour of the longest "
    "shift.",
    "A violin made in that small workshop costs more than a house, and the waiting list is nine "
    "years long.",
    "The astronomer showed us the rings of Saturn through a telescope that she had built in her "
    "kitchen.",
    "Because the harbour freezes in January, the island stores food and fuel for three months in a "
    "large hall.",
    "The hotel lost our booking, apologised, and gave us a room with a view of the fish market "
    "instead.",
    "When the power failed, the restaurant lit candles on all tables and served whatever could be "
    "cooked on gas.",
    "The study followed two thousand children for fifteen years and found that reading at home "
    "mattered more than income.",
    "He kept the broken watch of his father in a drawer and wound it every year on the same "
    "evening in May.",
    "The company offers to repair the dishwasher for free, but a technician can come at the "
    "earliest in three weeks.",
    "The first settlers chose the hill because the spring on its northern side had never run dry, "
    "even in the worst summers.",
    "Before you paint the wall, fill the holes, sand the surface, wipe off the dust, and cover the "
    "floor with old newspaper.",
    "The museum shop sells copies of the old harbour map, which shows reefs that later surveys "
    "could not find and quietly left out.",
    "My grandmother could tell from the smell of the wind whether it would rain, and she was right "
    "more often than the radio.",
    "The committee spent most of the meeting on the colour of the benches and only ten minutes on "
    "the cost of the whole park.",
    "If the parcel does not arrive by Thursday, please write to us with the order number and a "
    "photograph of the notice in your letterbox.",
    "The choir of the fishing village travelled for two days to sing at the opening, and half of "
    "the hall stood up before they had finished.",
    "After the river was cleaned, otters returned within six years, although nobody had released "
    "any and the nearest known family lived far upstream.",
    "The doctor told him to walk for half an hour each day, to eat less salt, and to come back in "
    "March with a list of everything that he had changed.",
    "Our teacher let us weigh air with a balance made of straws and balloons, and most of us still "
    "remember that afternoon better than any examination.",
    "The archive holds the letters of four generations of sailors, many of them water-stained, "
    "some never opened, and a few addressed to people who had already died.",
    "When the old cinema closed, a group of neighbours bought the projector, rented a barn outside "
    "the town, and has shown one film every Friday evening since then.",
    "The engineers tested the dam with sensors in two hundred places and found that it moves by "
    "almost a centimetre between a wet spring and a dry autumn, as it should.",
    "She had been told that the manuscript was lost in the fire, so when the librarian put the "
    "grey box on the table she did not dare to open it for several minutes.",
    "The airline changed the departure by only ten minutes, but because the connecting train runs "
    "every second hour, a third of the passengers reached their hotels after midnight without any "
    "dinner.",
    "Although the recipe has been printed on the packet for sixty years, the company receives some "
    "four hundred letters each winter from people who ask how long the dough should rest before it "
    "goes into the oven.",
    "The expedition carried food for ninety days, three tents, one sledge that had already been "
    "repaired twice, and a violin, which the doctor refused to leave behind and which, as they all "
    "wrote later, saved them from quarrelling in the long weeks of darkness.",
    "Before the railway came, the journey from the coast to the capital took four days by coach if "
    "the passes were free of snow, and travellers wrote their wills in the last inn below the "
    "mountains, where the landlord kept them in an iron chest that can still be seen in the local "
    "museum.",
    "When the inspectors arrived without notice on a Monday morning, they found the kitchen clean, "
    "the cold room at the right temperature, the records complete for the last three years, and "
    "the cook asleep on two chairs in the corner, because he had baked through the night for the "
    "wedding of his youngest daughter.",
    "Where is the nearest pharmacy?",
    "How do I reset my password?",
    "My order has not arrived yet.",
    "Please cancel the subscription at the end of this month.",
    "The screen stays black after the latest update.",
    "Is breakfast included in the price of the room?",
    "I was charged twice for the same ticket.",
    "Can I bring a folding bicycle on the tram?",
    "What documents do I need to register a used car?",
    "The delivery person left the parcel with a neighbour I do not know.",
    "Does the warranty cover damage by water?",
    "How can I export all my photographs to a disk?",
    "The left earphone is much quieter than the right one.",
    "Which of your trains have space for a wheelchair?",
    "I would like to change the name on my booking.",
    "Your shop sent me size forty-two instead of forty.",
    "The film drags in the middle but ends wonderfully.",
    "Terrible service, cold food, and a bill with mistakes.",
    "This is the best tent I have ever owned.",
    "The sound is rich, though the bass is a little too strong.",
    "A dull book about an exciting life.",
    "Good value for money, and it fits in a coat pocket.",
    "The actors do what they can with a script that gives them nothing.",
    "I laughed twice, both times in the wrong place.",
    "Quiet, clean and close to the station: we will come again.",
    "It broke after a week, and nobody answers my messages.",
    "Central bank leaves its main rate unchanged.",
    "Shares of the chip maker rose by six percent on Tuesday.",
    "Two ministers resign over the cost of the new stadium.",
    "Farmers warn of a poor harvest after the driest April since records began.",
    "The home side won by a single point in the last second.",
    "Researchers print a working valve from living cells.",
    "A court in the capital stopped the merger of the two largest breweries.",
    "Wildfires force thousands to leave their homes on the southern coast.",
    "The space probe sent its first pictures from beyond the orbit of Neptune.",
    "Bakers and teachers march together for higher pay.",
    "Plants turn light, water and carbon dioxide into sugar and oxygen.",
    "Sound travels about four times faster in water than in air.",
    "A prime number has exactly two divisors.",
    "The heart of a blue whale weighs as much as a small car.",
    "Copper conducts electricity better than iron does.",
    "The moon moves away from the earth by almost four centimetres a year.",
    "Honey does not spoil if it is kept closed and dry.",
    "The treaty was signed in 1648 and ended thirty years of war.",
    "Lightning is hotter than the surface of the sun.",
    "Glass is made from sand, soda and lime, melted at about fifteen hundred degrees.",
    "Octopuses have three hearts and blue blood.",
    "The printing press spread through Europe within fifty years of its invention.",
    "Bamboo can grow almost a metre in one day.",
    "Mount Kilimanjaro rises alone from the plain and carries snow close to the equator.",
    "The library closes at eight, except on Fridays.",
    "To remove the filter, press both clips and pull it straight towards you.",
    "Stir the paint well and thin it with at most five percent of water.",
    "Never open the cover while the blade is turning.",
    "Charge the device for at least two hours before you use it for the first time.",
    "Attach the shelf with the four long screws, and tighten them only when it hangs level.",
    "Rinse the rice until the water stays clear.",
    "Place the router in the middle of the flat and away from the microwave oven.",
    "Enter the amount, choose the account, and confirm with your fingerprint.",
    "Let the dough rise under a damp cloth until it has doubled in size.",
    "Write the serial number on the form; you find it below the battery.",
    "If the red light flashes three times, switch the pump off, wait for a minute, and bleed the "
    "valve.",
    "The old man at the ticket window knew every passenger by name.",
    "Snow muffled the street, and even the trams seemed to whisper.",
    "He opened the envelope, read one line, and sat down on the stairs.",
    "No one in the valley had ever seen so many stars at once.",
    "Somewhere behind the hedge a radio played a song from her childhood.",
    "They spoke of everything that evening except of the one thing on their minds.",
    "The cat watched the removal men as if they were stealing its house.",
    "By the time the soup was served, the quarrel was forgotten.",
};

}  // namespace

std::vector<std::string> BuiltInTexts() { return {std::begin(kSentences), std::end(kSentences)}; }

Result<std::vector<std::string>> ReadTexts(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return NotFoundError("texts file " + file + ": cannot be read");
  std::vector<std::string> texts;
  int64_t line = 0;
  for (std::string text; std::getline(in, text);) {
    ++line;
    if (text.ends_with('\r')) text.pop_back();
    if (text.empty()) continue;
    if (!IsValidUtf8(text)) {
      return InvalidError(file + ":" + std::to_string(line) + ": not valid UTF-8");
    }
    texts.push_back(std::move(text));
  }
  if (texts.empty()) return InvalidError("texts file " + file + ": holds no text");
  return texts;
}

}  // namespace gimbal::bench
