#include "journal/sqlite/file_session.hpp"

#include <SQLiteCpp/Transaction.h>

#include "journal/file/damage.hpp"

namespace halmark::journal {

void FileSession::read(const std::function<void()>& body) {
  if (is_writing_) return body();
  try {
    body();
  } catch (const SQLite::Exception& e) {
    throw storage_error(&db_, e, "the rows cannot be read", path_);
  }
}

void FileSession::read_one_state(const std::function<void()>& body) {
  read([&] {
    SQLite::Transaction one_state(db_);
    body();
    one_state.commit();
  });
}

void FileSession::write(const std::function<void()>& body) {
  is_writing_ = true;
  try {
    SQLite::Transaction transaction(db_, SQLite::TransactionBehavior::IMMEDIATE);
    body();
    transaction.commit();
    is_writing_ = false;
  } catch (const SQLite::Exception& e) {
    is_writing_ = false;
    throw storage_error(&db_, e, "a row could not be stored", path_,
                        std::string("free space there and ") + go_on);
  } catch (...) {
    is_writing_ = false;
    throw;
  }
}

}  // namespace halmark::journal
