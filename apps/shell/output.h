// Writing, with every fault noticed: a full disk must not look like an answer.
#pragma once

#include <string>
#include <string_view>

namespace fourhold::shell {

// All of the text to standard output. Error (exit code 2) when it cannot be written: a full disk.
// Ends the process by SIGPIPE, without a word, when the reader of a pipe has left (head).
void write_output(std::string_view text);

// To standard error; what fails there cannot be told to anybody.
void write_note(std::string_view text);

// The file appears whole or not at all: it is written beside, synced and renamed. What is there and
// is no plain file (a pipe, a device) is written to directly. Error (exit code 2) naming the path.
void write_file(const std::string& path, std::string_view content);

// Makes the folder of a file, and those above it. Error naming the path where that fails.
void make_folder_of(const std::string& path);

// The same Error now, before work is done whose result would be lost, as far as can be told.
void require_writable(const std::string& path);

}  // namespace fourhold::shell
